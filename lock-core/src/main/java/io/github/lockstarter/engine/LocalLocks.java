// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * The locks that are held or waited for in this JVM, and no others.
 */
final class LocalLocks {

	private final Terms terms;

	private final ConcurrentMap<LockKey, LocalLock> locks = new ConcurrentHashMap<>();

	private final ReentrantLock emptiness = new ReentrantLock();

	private final Condition empty = this.emptiness.newCondition();

	private final Consumer<LocalLock> end = this::remove;

	private volatile boolean awaited;

	LocalLocks(Terms terms) {
		this.terms = terms;
	}

	/**
	 * Change a lock that is in use.
	 * @return what remains to be done; nothing if the lock is not in use
	 */
	Effect change(LockKey key, Function<LocalLock, Effect> transition) {
		LocalLock lock = this.locks.get(key);
		return (lock != null) ? transition.apply(lock) : Effect.NONE;
	}

	LocalLock getOrCreate(LockKey key) {
		LocalLock lock = this.locks.get(key);
		return (lock != null) ? lock : this.locks.computeIfAbsent(key, (k) -> new LocalLock(k, this.terms, this.end));
	}

	@Nullable LocalLock get(LockKey key) {
		return this.locks.get(key);
	}

	List<LocalLock> all() {
		return List.copyOf(this.locks.values());
	}

	List<LockKey> held() {
		return all().stream().filter(LocalLock::isHeld).map(LocalLock::key).toList();
	}

	int size() {
		return this.locks.size();
	}

	private void remove(LocalLock lock) {
		this.locks.remove(lock.key(), lock);
		if (this.awaited && this.locks.isEmpty()) {
			signalEmpty();
		}
	}

	/**
	 * Wait until no lock is left.
	 * @param nanos how long to wait at most
	 * @return whether no lock is left
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
