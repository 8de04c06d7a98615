// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.backend.LockAttempt;
import io.github.lockstarter.backend.LockGrant;
import io.github.lockstarter.backend.LockRefusal;
import io.github.lockstarter.backend.OwnerToken;

/**
 * What several {@link MemoryLockBackend}s share, as instances of an application share one
 * server. An entry exists while its lock is held or waited for.
 */
public final class MemoryLockStore {

	private static final Instant EPOCH = Instant.parse("2024-01-01T00:00:00Z");

	private final Map<LockKey, Grant> grants = new HashMap<>();

	private final Map<LockKey, Set<MemoryLockBackend>> queues = new HashMap<>();

	private final LongSupplier nanoTime;

	/** One counter for all locks, so that nothing has to be remembered for idle ones. */
	private long lastFencingBase;

	/**
	 * Create a store.
	 */
	public MemoryLockStore() {
		this(System::nanoTime);
	}

	/**
	 * Create a store with another clock, for tests of what happens over time.
	 * @param nanoTime a monotonic clock, in nanoseconds from any origin
	 */
	public MemoryLockStore(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
	}

	/**
	 * Forget all locks and waiters, as a server does that restarts without its data.
	 */
	public synchronized void clear() {
		this.grants.clear();
		this.queues.clear();
	}

	/**
	 * Return whether no lock is held or waited for.
	 */
	public synchronized boolean isEmpty() {
		this.grants.values().removeIf(this::isExpired);
		return this.grants.isEmpty() && this.queues.isEmpty();
	}

	synchronized LockAttempt acquire(LockKey key, OwnerToken owner, Duration leaseTime, MemoryLockBackend asker,
			boolean queue) {
		long end = this.nanoTime.getAsLong() + leaseTime.toNanos();
		Grant grant = grantOf(key);
		if (grant == null) {
			this.lastFencingBase = Math.max(this.lastFencingBase + 1, EPOCH.until(Instant.now(), ChronoUnit.MICROS));
			this.grants.put(key, new Grant(owner, this.lastFencingBase, end));
			return new LockGrant(this.lastFencingBase, isAwaited(key, asker));
		}
		if (grant.owner.equals(owner)) {
			this.grants.put(key, new Grant(owner, grant.fencingBase, end));
			return new LockGrant(grant.fencingBase, isAwaited(key, asker));
		}
		if (queue) {
			enqueue(key, asker);
		}
		return new LockRefusal(Duration.ofNanos(grant.end - this.nanoTime.getAsLong()));
	}

	synchronized boolean renew(LockKey key, OwnerToken owner, Duration leaseTime) {
		Grant grant = grantOf(key);
		if (grant == null || !grant.owner.equals(owner)) {
			return false;
		}
		this.grants.put(key, new Grant(owner, grant.fencingBase, this.nanoTime.getAsLong() + leaseTime.toNanos()));
		return true;
	}

	synchronized boolean release(LockKey key, OwnerToken owner) {
		Grant grant = grantOf(key);
		if (grant == null || !grant.owner.equals(owner)) {
			return false;
		}
		this.grants.remove(key);
		return true;
	}

	/**
	 * Return whether another than the one that asks stands in the queue of a lock.
	 */
	synchronized boolean isAwaited(LockKey key, MemoryLockBackend asker) {
		Set<MemoryLockBackend> queue = this.queues.getOrDefault(key, Set.of());
		return queue.size() > (queue.contains(asker) ? 1 : 0);
	}

	synchronized void enqueue(LockKey key, MemoryLockBackend waiter) {
		this.queues.computeIfAbsent(key, (k) -> new LinkedHashSet<>()).add(waiter);
	}

	/**
	 * Take a waiter out of a queue.
	 * @return whether it stood there
	 */
	synchronized boolean dequeue(LockKey key, MemoryLockBackend waiter) {
		Set<MemoryLockBackend> queue = this.queues.get(key);
		if (queue == null || !queue.remove(waiter)) {
			return false;
		}
		if (queue.isEmpty()) {
			this.queues.remove(key);
		}
		return true;
	}

	/**
	 * Take the first waiter out of the queue of a lock that is free.
	 */
	synchronized @Nullable MemoryLockBackend nextWaiter(LockKey key) {
		Set<MemoryLockBackend> queue = this.queues.get(key);
		if (queue == null || grantOf(key) != null) {
			return null;
		}
		MemoryLockBackend first = queue.iterator().next();
		dequeue(key, first);
		return first;
	}

	private @Nullable Grant grantOf(LockKey key) {
		Grant grant = this.grants.get(key);
		if (grant != null && isExpired(grant)) {
			this.grants.remove(key);
			return null;
		}
		return grant;
	}

	private boolean isExpired(Grant grant) {
		return grant.end - this.nanoTime.getAsLong() <= 0;
	}

	private record Grant(OwnerToken owner, long fencingBase, long end) {
	}

}
