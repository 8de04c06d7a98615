// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Exception thrown when another owner held a lock for the whole wait time. The body did
 * not run; trying again later is reasonable.
 */
public class LockContendedException extends LockException {

	private final Duration waited;

	private final @Nullable String holder;

	private final @Nullable Duration remaining;

	/**
	 * Create an exception without knowing who holds the lock.
	 */
	public LockContendedException(LockKey key, Duration waited) {
		this(key, waited, null, null);
	}

	/**
	 * Create an exception.
	 * @param key the lock
	 * @param waited how long the caller waited for it
	 * @param holder the instance that holds it, or {@code null} if that is not known
	 * @param remaining how long its lease lasts, or {@code null} if that is not known
	 */
	public LockContendedException(LockKey key, Duration waited, @Nullable String holder, @Nullable Duration remaining) {
		super(key,
				"Lock '" + key + "' did not become free within " + text(waited) + "; it is held by "
						+ ((holder != null) ? holder : "another owner")
						+ ((holder != null && remaining != null)
								? ", whose lease ends in " + text(remaining) + " unless renewed" : "")
						+ "; nothing was executed",
				null);
		this.waited = waited;
		this.holder = holder;
		this.remaining = remaining;
	}

	private static String text(Duration time) {
		long millis = time.toMillis();
		return (millis >= 10_000) ? (millis / 1000) + " s" : millis + " ms";
	}

	/**
	 * Return how long the caller waited for the lock.
	 */
	public Duration getWaited() {
		return this.waited;
	}

	/**
	 * Return the name of the instance that held the lock when the store last answered. If
	 * that was another program, the text says so, with the beginning of its value.
	 * @return the name, or {@code null} if it is not known
	 */
	public @Nullable String getHolder() {
		return this.holder;
	}

	/**
	 * Return how long the lease of the holder lasts if it is not renewed.
	 * @return the time, or {@code null} if it is not known
	 */
	public @Nullable Duration getRemaining() {
		return this.remaining;
	}

}
