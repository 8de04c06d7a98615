// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.github.lockstarter.LockKey;

/**
 * Memory that several {@link MemoryLockStore}s share, as instances of an application
 * share one server. An entry exists while its lock is held or waited for.
 */
public final class LockMemory {

	private static final Instant EPOCH = Instant.parse("2024-01-01T00:00:00Z");

	/** From this time on the base only counts, because it must stay below 2^51. */
	private static final long LAST_TIME = (1L << 51) - (1L << 40);

	private final Map<LockKey, MemoryLock> locks = new HashMap<>();

	private static final Duration RESERVATION = Duration.ofMillis(20);

	private final LongSupplier nanoTime;

	private final Duration reservation;

	/** The beginning of the year 2024, or of the clock of a test. */
	private final long begin;

	/** One counter for all locks, so that idle locks need no entry. */
	private long lastFencingBase;

	/**
	 * Create an empty memory.
	 */
	public LockMemory() {
		this(System::nanoTime, RESERVATION, EPOCH.until(Instant.now(), ChronoUnit.MICROS));
	}

	/**
	 * Create an empty memory with a clock of your own, for tests.
	 * @param nanoTime a monotonic clock, in nanoseconds from any origin; fencing bases
	 * begin with it
	 */
	public LockMemory(LongSupplier nanoTime) {
		this(nanoTime, RESERVATION);
	}

	/**
	 * Create an empty memory.
	 * @param reservation how long a free lock is reserved for the one whose turn it is
	 */
	LockMemory(LongSupplier nanoTime, Duration reservation) {
		this(nanoTime, reservation, 0);
	}

	private LockMemory(LongSupplier nanoTime, Duration reservation, long micros) {
		this.nanoTime = nanoTime;
		this.reservation = reservation;
		this.begin = nanoTime.getAsLong() - TimeUnit.MICROSECONDS.toNanos(micros);
	}

	/**
	 * Forget all locks and waiters, as a server does that restarts without its data.
	 */
	public synchronized void clear() {
		this.locks.clear();
	}

	/**
	 * Return whether no lock is held or waited for.
	 */
	public synchronized boolean isEmpty() {
		this.locks.values().removeIf(MemoryLock::isIdle);
		return this.locks.isEmpty();
	}

	/**
	 * Change a lock under the guard of this memory.
	 */
	synchronized <T> T with(LockKey key, Function<MemoryLock, T> operation) {
		MemoryLock lock = this.locks.computeIfAbsent(key, (k) -> new MemoryLock(this));
		try {
			return operation.apply(lock);
		}
		finally {
			if (lock.isIdle()) {
				this.locks.remove(key);
			}
		}
	}

	long now() {
		return this.nanoTime.getAsLong();
	}

	long endOf(Duration leaseTime) {
		return now() + leaseTime.toNanos();
	}

	long endOfReservation() {
		return endOf(this.reservation);
	}

	long mint() {
		long micros = Math.min(TimeUnit.NANOSECONDS.toMicros(now() - this.begin), LAST_TIME);
		this.lastFencingBase = Math.max(this.lastFencingBase + 1, micros);
		return this.lastFencingBase;
	}

}
