// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * Which server of the store is responsible for which lock, as far as this is known
 * without asking. A store that has to look it up does so now and then, on a thread of its
 * own, as a server that does not answer may be asked.
 */
final class Servers {

	private static final Log logger = LogFactory.getLog(Servers.class);

	private static final long LOOKUP_INTERVAL = TimeUnit.SECONDS.toNanos(10);

	private final Function<LockKey, Object> serverOf;

	private final Supplier<@Nullable Runnable> lookup;

	private final LongSupplier nanoTime;

	private final Executor lookups;

	private final AtomicLong nextLookup;

	/**
	 * Create it.
	 * @param serverOf what the store knows without asking
	 * @param lookup how to learn more, or {@code null} if there is no more
	 * @param nanoTime a monotonic clock
	 * @param lookups runs look-ups, which may block
	 * @see io.github.lockstarter.store.LockStore#serverOf
	 */
	Servers(Function<LockKey, Object> serverOf, Supplier<@Nullable Runnable> lookup, LongSupplier nanoTime,
			Executor lookups) {
		this.serverOf = serverOf;
		this.lookup = lookup;
		this.nanoTime = nanoTime;
		this.lookups = lookups;
		this.nextLookup = new AtomicLong(nanoTime.getAsLong());
	}

	/**
	 * Return what stands for the server of a lock. Never blocks and never fails.
	 */
	Object of(LockKey key) {
		try {
			lookUpIfDue();
			return this.serverOf.apply(key);
		}
		catch (RuntimeException ex) {
			logger.debug("The server of lock '" + key + "' is not known", ex);
			return "";
		}
	}

	private void lookUpIfDue() {
		Runnable lookup = this.lookup.get();
		if (lookup == null) {
			return;
		}
		long due = this.nextLookup.get();
		long now = this.nanoTime.getAsLong();
		if (now - due >= 0 && this.nextLookup.compareAndSet(due, now + LOOKUP_INTERVAL)) {
			this.lookups.execute(() -> lookUp(lookup));
		}
	}

	private void lookUp(Runnable lookup) {
		try {
			lookup.run();
		}
		catch (RuntimeException ex) {
			logger.debug("The servers of the locks could not be looked up; trying again later", ex);
		}
		// After a slow answer the next question is not asked at once
		this.nextLookup.set(this.nanoTime.getAsLong() + LOOKUP_INTERVAL);
	}

}
