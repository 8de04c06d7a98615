// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * The locks for which this JVM stands in line, by the keys of their rows.
 */
final class WaitedLocks {

	private final ConcurrentMap<String, Waited> locks = new ConcurrentHashMap<>();

	private final long life;

	private volatile Runnable whenAdded = () -> {
	};

	/**
	 * Create an empty set.
	 * @param life how long an entry lasts. A withdrawal that failed leaves its entry
	 * behind, and after this time the line does not contain the JVM any more
	 */
	WaitedLocks(Duration life) {
		this.life = life.toNanos();
	}

	/**
	 * Note whether this JVM stands in the line of a lock. Called while the row of the
	 * lock is locked, so that two requests cannot come in the other order.
	 */
	void note(String row, LockKey key, boolean inLine) {
		if (!inLine) {
			this.locks.remove(row);
			return;
		}
		long end = System.nanoTime() + this.life;
		if (this.locks.computeIfPresent(row, (same, waited) -> new Waited(key, waited.seen(), end)) == null
				&& this.locks.putIfAbsent(row, new Waited(key, 0, end)) == null) {
			this.whenAdded.run();
		}
	}

	boolean contains(String row) {
		return this.locks.containsKey(row);
	}

	boolean isEmpty() {
		long now = System.nanoTime();
		this.locks.values().removeIf((waited) -> waited.end() - now < 0);
		return this.locks.isEmpty();
	}

	/**
	 * Return the keys of the rows of all locks.
	 */
	List<String> rows() {
		return List.copyOf(this.locks.keySet());
	}

	/**
	 * Note that a message about a lock was seen.
	 * @param toldAt the time of the message
	 * @return the lock, or {@code null} if this message or a later one was seen before
	 */
	@Nullable LockKey see(String row, long toldAt) {
		Waited waited = this.locks.get(row);
		while (waited != null && toldAt > waited.seen()) {
			if (this.locks.replace(row, waited, new Waited(waited.key(), toldAt, waited.end()))) {
				return waited.key();
			}
			waited = this.locks.get(row);
		}
		return null;
	}

	/**
	 * Set what to call when this JVM begins to wait for a lock.
	 */
	void whenAdded(Runnable whenAdded) {
		this.whenAdded = whenAdded;
	}

	/**
	 * A lock, the time of the last message about it that was seen, and when this JVM no
	 * longer waits for it unless it asks again.
	 */
	private record Waited(LockKey key, long seen, long end) {
	}

}
