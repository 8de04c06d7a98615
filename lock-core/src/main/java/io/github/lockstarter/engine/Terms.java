// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The terms of all locks in a registry: the lease time, how long waiters tolerate a store
 * that does not answer, and whether the registry is shutting down.
 */
final class Terms {

	private final EngineSettings settings;

	private final LongSupplier nanoTime;

	private volatile boolean refusing;

	/**
	 * Create the terms of a registry.
	 * @param nanoTime a monotonic clock
	 */
	Terms(EngineSettings settings, LongSupplier nanoTime) {
		this.settings = settings;
		this.nanoTime = nanoTime;
	}

	/**
	 * Refuse new waiters, or accept them again.
	 */
	void setRefusing(boolean refusing) {
		this.refusing = refusing;
	}

	boolean isRefusing() {
		return this.refusing;
	}

	/**
	 * Return the lease time for an owner without a fixed one.
	 */
	Duration leaseTime() {
		return this.settings.leaseTime();
	}

	/**
	 * Return the lease time for a waiter.
	 */
	Duration leaseTimeFor(Waiter waiter) {
		Duration fixed = waiter.fixedLeaseTime();
		return (fixed != null) ? fixed : leaseTime();
	}

	/**
	 * Return how long waiters tolerate a store that does not answer, in nanoseconds.
	 */
	long outageTime() {
		return this.settings.outageTime().toNanos();
	}

	long now() {
		return this.nanoTime.getAsLong();
	}

}
