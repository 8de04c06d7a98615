// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseListener;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.store.ReleaseSignal;

/**
 * Locks within one JVM, with the same contract as those in a server. For tests of an
 * application without its store; not for production, where instances would not see each
 * other's locks.
 */
public final class MemoryLockStore implements LockStore {

	private final LockMemory memory;

	private volatile @Nullable ReleaseListener listener;

	/**
	 * Create a store with a memory of its own.
	 */
	public MemoryLockStore() {
		this(new LockMemory());
	}

	/**
	 * Create a store that shares its memory with others, as one of several instances of
	 * an application.
	 * @param memory what they share
	 */
	public MemoryLockStore(LockMemory memory) {
		this.memory = memory;
	}

	@Override
	public LockAttempt acquire(LockKey key, OwnerToken owner, Duration leaseTime, boolean queue) {
		MemoryPlace place = MemoryPlace.of(this, owner);
		return withTold(key, (lock, told) -> lock.acquire(place, owner, leaseTime, queue, told));
	}

	@Override
	public List<LockGrant> acquireAll(List<LeaseRequest> requests) {
		return this.memory.atomically(() -> {
			boolean free = requests.stream()
				.allMatch((request) -> this.memory.with(request.key(),
						(lock) -> lock.isFreeFor(MemoryPlace.of(this, request.owner()), request.owner())));
			return free ? requests.stream().map(this::grant).toList() : List.of();
		});
	}

	private LockGrant grant(LeaseRequest request) {
		return (LockGrant) acquire(request.key(), request.owner(), request.leaseTime(), false);
	}

	@Override
	public boolean renew(LockKey key, OwnerToken owner, Duration leaseTime) {
		return this.memory.with(key, (lock) -> lock.renew(owner, leaseTime));
	}

	@Override
	public boolean keep(LockKey key, OwnerToken owner, Duration time) {
		return this.memory.with(key, (lock) -> lock.keep(owner, time));
	}

	@Override
	public ReleaseOutcome release(LockKey key, OwnerToken owner, @Nullable LockMode next) {
		return withTold(key, (lock, told) -> {
			if (!lock.release(owner)) {
				return ReleaseOutcome.NOT_OWNER;
			}
			if (!lock.isFree()) {
				return ReleaseOutcome.RELEASED;
			}
			MemoryPlace place = (next != null && next != LockMode.FAIR) ? MemoryPlace.of(this, next) : null;
			return lock.queue().wakeBefore(this, place, told) ? ReleaseOutcome.RELEASED_TO_WAITER
					: ReleaseOutcome.RELEASED;
		});
	}

	@Override
	public boolean isAwaited(LockKey key) {
		return this.memory.with(key, (lock) -> lock.queue().isAwaited(this));
	}

	@Override
	public void arrive(LockKey key, OwnerToken owner) {
		MemoryPlace place = MemoryPlace.of(this, owner);
		withTold(key, (lock, told) -> {
			lock.queue().add(place);
			return place;
		});
	}

	@Override
	public void withdraw(LockKey key) {
		withdraw(key, MemoryPlace.of(this, LockMode.EXCLUSIVE));
	}

	@Override
	public void withdraw(LockKey key, OwnerToken owner) {
		withdraw(key, MemoryPlace.of(this, owner));
	}

	private void withdraw(LockKey key, MemoryPlace place) {
		withTold(key, (lock, told) -> {
			boolean turn = lock.queue().withdraw(place);
			if (lock.isShared()) {
				lock.queue().tellReaders(0, told);
			}
			return turn && lock.isFree() && lock.queue().wake(this, told);
		});
	}

	@Override
	public ReleaseSignal releaseSignal() {
		return (listener) -> {
			this.listener = listener;
			return true;
		};
	}

	boolean listens() {
		return this.listener != null;
	}

	/** Listeners are called when the store is free again, as they may ask it. */
	private <T> T withTold(LockKey key, BiFunction<MemoryLock, Collection<MemoryLockStore>, T> operation) {
		Collection<MemoryLockStore> told = new LinkedHashSet<>();
		T result = this.memory.with(key, (lock) -> operation.apply(lock, told));
		told.forEach((jvm) -> jvm.tell(key));
		return result;
	}

	private void tell(LockKey key) {
		ReleaseListener listener = this.listener;
		if (listener != null) {
			listener.onRelease(key);
		}
	}

}
