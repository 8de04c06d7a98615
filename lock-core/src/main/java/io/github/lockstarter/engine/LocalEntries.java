// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * The locks that somebody in this JVM holds or waits for, and no others.
 */
final class LocalEntries {

	private final Duration leaseTime;

	private final ConcurrentMap<LockKey, LocalEntry> entries = new ConcurrentHashMap<>();

	private final ReentrantLock emptiness = new ReentrantLock();

	private final Condition empty = this.emptiness.newCondition();

	private volatile boolean awaited;

	/**
	 * Create it empty.
	 * @param leaseTime length of the leases of callers that do not say
	 */
	LocalEntries(Duration leaseTime) {
		this.leaseTime = leaseTime;
	}

	LocalEntry getOrCreate(LockKey key) {
		LocalEntry entry = this.entries.get(key);
		return (entry != null) ? entry
				: this.entries.computeIfAbsent(key, (k) -> new LocalEntry(k, this, this.leaseTime));
	}

	@Nullable LocalEntry get(LockKey key) {
		return this.entries.get(key);
	}

	List<LocalEntry> all() {
		return List.copyOf(this.entries.values());
	}

	int size() {
		return this.entries.size();
	}

	void remove(LocalEntry entry) {
		this.entries.remove(entry.key(), entry);
		if (this.awaited && this.entries.isEmpty()) {
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
			while (!this.entries.isEmpty() && left > 0) {
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
		return this.entries.isEmpty();
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
