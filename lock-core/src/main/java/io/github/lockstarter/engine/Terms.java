// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * What holds for all locks of a registry: how long leases are, how long waiters bear a
 * store that does not answer, and whether the registry is shutting down.
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
	 * Return the length of the lease of an owner that does not ask for a fixed one.
	 */
	Duration leaseTime() {
		return this.settings.leaseTime();
	}

	/**
	 * Return the length of the lease that a waiter wants.
	 */
	Duration leaseTimeFor(Waiter waiter) {
		Duration fixed = waiter.fixedLeaseTime();
		return (fixed != null) ? fixed : leaseTime();
	}

	/**
	 * Return for how long waiters bear a store that does not answer, in nanoseconds.
	 */
	long outageTime() {
		return this.settings.outageTime().toNanos();
	}

	long now() {
		return this.nanoTime.getAsLong();
	}

}
