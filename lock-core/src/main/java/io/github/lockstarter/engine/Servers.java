// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.StoreServers;

/**
 * Knows which server of the store keeps which lock, without blocking. A store that must
 * look this up does so now and then on a thread of its own, because it may ask a server
 * that does not answer.
 */
final class Servers {

	private static final Log logger = LogFactory.getLog(Servers.class);

	private static final long LOOKUP_INTERVAL = TimeUnit.SECONDS.toNanos(10);

	private final StoreServers servers;

	private final LongSupplier nanoTime;

	private final Executor lookups;

	private final AtomicLong nextLookup;

	/**
	 * Create the servers of a store.
	 * @param servers the servers as the store knows them
	 * @param nanoTime a monotonic clock
	 * @param lookups runs look-ups, which may block
	 */
	Servers(StoreServers servers, LongSupplier nanoTime, Executor lookups) {
		this.servers = servers;
		this.nanoTime = nanoTime;
		this.lookups = lookups;
		this.nextLookup = new AtomicLong(nanoTime.getAsLong());
	}

	/**
	 * Return an object that stands for the server of a lock. Never blocks and never
	 * fails.
	 */
	Object of(LockKey key) {
		try {
			lookUpIfDue();
			return Objects.requireNonNull(this.servers.of(key));
		}
		catch (RuntimeException | Error ex) {
			logger.debug("The server of lock '" + key + "' is not known", ex);
			return "";
		}
	}

	private void lookUpIfDue() {
		Runnable lookup = this.servers.lookup();
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
		// After a slow answer the next look-up does not follow at once
		this.nextLookup.set(this.nanoTime.getAsLong() + LOOKUP_INTERVAL);
	}

}
