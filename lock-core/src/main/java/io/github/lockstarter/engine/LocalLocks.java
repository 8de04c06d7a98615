// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * The locks that somebody in this JVM holds or waits for, and no others.
 */
final class LocalLocks {

	private final EngineSettings settings;

	private final LongSupplier nanoTime;

	private final ConcurrentMap<LockKey, LocalLock> locks = new ConcurrentHashMap<>();

	private final ReentrantLock emptiness = new ReentrantLock();

	private final Condition empty = this.emptiness.newCondition();

	private volatile boolean awaited;

	private volatile boolean refusing;

	/**
	 * Create it empty.
	 * @param nanoTime a monotonic clock
	 */
	LocalLocks(EngineSettings settings, LongSupplier nanoTime) {
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
	 * Return whether waiters bear a store that does not answer at all.
	 */
	boolean bearsOutages() {
		return !this.settings.outageTime().isZero();
	}

	/**
	 * Return for how long a waiter still bears an outage, in nanoseconds. The time in
	 * which others of this JVM have asked while it waited behind them counts as well.
	 */
	long bearable(Outage outage, Waiter waiter) {
		long borne = Math.min(this.nanoTime.getAsLong() - outage.since(), waiter.waited().toNanos());
		return this.settings.outageTime().toNanos() - borne;
	}

	LocalLock getOrCreate(LockKey key) {
		LocalLock lock = this.locks.get(key);
		return (lock != null) ? lock : this.locks.computeIfAbsent(key, (k) -> new LocalLock(k, this));
	}

	@Nullable LocalLock get(LockKey key) {
		return this.locks.get(key);
	}

	List<LocalLock> all() {
		return List.copyOf(this.locks.values());
	}

	int size() {
		return this.locks.size();
	}

	void remove(LocalLock lock) {
		this.locks.remove(lock.key(), lock);
		if (this.awaited && this.locks.isEmpty()) {
			signalEmpty();
		}
	}

	/**
	 * Wait until no lock is left.
	 * @param nanos longest time
	 * @return whether none is left
	 */
	boolean awaitEmpty(long nanos) {
		this.emptiness.lock();
		try {
			this.awaited = true;
			long left = nanos;
			while (!this.locks.isEmpty() && left > 0) {
				left = this.empty.awaitNanos(left);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.awaited = false;
			this.emptiness.unlock();
		}
		return this.locks.isEmpty();
	}

	private void signalEmpty() {
		this.emptiness.lock();
		try {
			this.empty.signalAll();
		}
		finally {
			this.emptiness.unlock();
		}
	}

}
