// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * The terms of all locks in a registry: the lease time, how long waiters tolerate a store
 * that does not answer, what the lock owes to other instances that poll, and whether the
 * registry is shutting down. Counts what they do.
 */
final class Terms {

	private static final int MOST_PARKED = 256;

	private final EngineSettings settings;

	private final Time time;

	private final Warnings warnings;

	/** Of locks that are idle, for one caller that acquires a lock again and again. */
	private final Map<LockKey, Courtesy> parked = new ConcurrentHashMap<>();

	/** How often a lock was passed to the next waiter without asking the store. */
	private final LongAdder handOffs = new LongAdder();

	private volatile boolean refusing;

	Terms(EngineSettings settings, Time time) {
		this.settings = settings;
		this.time = time;
		this.warnings = new Warnings(settings, time);
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
	 * Return the name of this instance.
	 */
	String instance() {
		return this.settings.instanceName();
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
		Duration longest = waiter.holdAtMost();
		if (fixed != null) {
			return fixed;
		}
		return (longest != null && longest.compareTo(leaseTime()) < 0) ? longest : leaseTime();
	}

	/**
	 * Return how long waiters tolerate a store that does not answer, in nanoseconds.
	 */
	long outageTime() {
		return this.settings.outageTime().toNanos();
	}

	Courtesy newCourtesy() {
		return new Courtesy(this.settings, now());
	}

	void park(LockKey key, Courtesy courtesy) {
		if (this.parked.size() >= MOST_PARKED) {
			this.parked.clear();
		}
		this.parked.put(key, courtesy);
	}

	@Nullable Courtesy unpark(LockKey key) {
		return this.parked.remove(key);
	}

	void handedOff() {
		this.handOffs.increment();
	}

	long handOffs() {
		return this.handOffs.sum();
	}

	Warnings warnings() {
		return this.warnings;
	}

	Time time() {
		return this.time;
	}

	long now() {
		return this.time.now();
	}

}
