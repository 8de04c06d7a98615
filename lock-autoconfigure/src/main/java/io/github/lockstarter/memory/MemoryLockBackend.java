// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.backend.LockAttempt;
import io.github.lockstarter.backend.LockBackend;
import io.github.lockstarter.backend.LockGrant;
import io.github.lockstarter.backend.OwnerToken;
import io.github.lockstarter.backend.ReleaseListener;
import io.github.lockstarter.backend.ReleaseOutcome;
import io.github.lockstarter.backend.ReleaseSignal;

/**
 * Locks within one JVM, with the same contract as those in a server. For tests of an
 * application without its store; not for production, where instances would not see each
 * other's locks.
 */
public final class MemoryLockBackend implements LockBackend {

	private final MemoryLockStore store;

	private volatile @Nullable ReleaseListener listener;

	/**
	 * Create a backend with a store of its own.
	 */
	public MemoryLockBackend() {
		this(new MemoryLockStore());
	}

	/**
	 * Create a backend that shares a store with others, as one of several instances of an
	 * application.
	 * @param store the store
	 */
	public MemoryLockBackend(MemoryLockStore store) {
		this.store = store;
	}

	@Override
	public LockAttempt acquire(LockKey key, OwnerToken owner, Duration leaseTime, boolean queue) {
		LockAttempt attempt = this.store.acquire(key, owner, leaseTime, this, queue);
		if (attempt instanceof LockGrant) {
			this.store.dequeue(key, this);
		}
		return attempt;
	}

	@Override
	public boolean renew(LockKey key, OwnerToken owner, Duration leaseTime) {
		return this.store.renew(key, owner, leaseTime);
	}

	@Override
	public ReleaseOutcome release(LockKey key, OwnerToken owner, boolean queue) {
		if (!this.store.release(key, owner)) {
			return ReleaseOutcome.NOT_OWNER;
		}
		if (!tellNextWaiter(key)) {
			return ReleaseOutcome.RELEASED;
		}
		if (queue) {
			this.store.enqueue(key, this);
		}
		return ReleaseOutcome.RELEASED_TO_WAITER;
	}

	@Override
	public boolean isAwaited(LockKey key) {
		return this.store.isAwaited(key, this);
	}

	@Override
	public void withdraw(LockKey key) {
		if (!this.store.dequeue(key, this)) {
			tellNextWaiter(key);
		}
	}

	@Override
	public ReleaseSignal releaseSignal() {
		return (listener) -> {
			this.listener = listener;
			return true;
		};
	}

	private boolean tellNextWaiter(LockKey key) {
		MemoryLockBackend waiter = this.store.nextWaiter(key);
		while (waiter != null) {
			ReleaseListener listener = waiter.listener;
			if (waiter != this && listener != null) {
				listener.onRelease(key);
				return true;
			}
			waiter = this.store.nextWaiter(key);
		}
		return false;
	}

}
