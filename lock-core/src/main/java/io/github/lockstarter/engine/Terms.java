// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

/**
 * The terms of all locks in a registry: the lease time, how long waiters tolerate a store
 * that does not answer, and whether the registry is shutting down.
 */
final class Terms {

	private final EngineSettings settings;

	private final Time time;

	private volatile boolean refusing;

	Terms(EngineSettings settings, Time time) {
		this.settings = settings;
		this.time = time;
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

	Time time() {
		return this.time;
	}

	long now() {
		return this.time.now();
	}

}
