// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.memory;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.LockKeeping;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;

/**
 * Keeps locks within one JVM, with the same contract as a store on a server. For tests of
 * an application without its store; not for production, where instances would not see
 * each other's locks.
 */
public final class MemoryLockStore implements LockStore {

	private final LockMemory memory;

	private final WaitingLine line = new MemoryLine();

	private final LockInspection inspection = new MemoryInspection();

	private volatile String instance = OwnerToken.instance(null);

	private volatile WaitingLine.@Nullable Listener listener;

	/**
	 * Create a store with a memory of its own.
	 */
	public MemoryLockStore() {
		this(new LockMemory());
	}

	/**
	 * Create a store that shares its memory with others, as one of several instances of
	 * an application.
	 * @param memory the shared memory
	 */
	public MemoryLockStore(LockMemory memory) {
		this.memory = memory;
	}

	@Override
	public void setInstance(String name) {
		this.instance = name;
	}

	String instance() {
		return this.instance;
	}

	@Override
	public Set<LockMode> modes() {
		return EnumSet.allOf(LockMode.class);
	}

	@Override
	public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
		return CompletableFuture.completedFuture(tryAcquire(request, wait));
	}

	private AcquireResult tryAcquire(LeaseRequest request, boolean queue) {
		MemoryPlace place = MemoryPlace.of(this, request.owner());
		return withTold(request.key(),
				(lock, told) -> lock.acquire(place, request.owner(), request.leaseTime(), queue, told));
	}

	@Override
	public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		List<CompletionStage<Boolean>> answers = new ArrayList<>(requests.size());
		for (LeaseRequest request : requests) {
			boolean owned = this.memory.with(request.key(), (lock) -> lock.renew(request.owner(), request.leaseTime()));
			answers.add(CompletableFuture.completedFuture(owned));
		}
		return answers;
	}

	@Override
	public CompletionStage<Boolean> release(LockKey key, OwnerToken owner) {
		return CompletableFuture.completedFuture(withTold(key, (lock, told) -> {
			boolean released = lock.release(owner);
			if (released && lock.isFree()) {
				lock.queue().wake(this, told);
			}
			return released;
		}));
	}

	@Override
	public Optional<LockKeeping> keeping() {
		return Optional.of((key, owner, time) -> CompletableFuture
			.completedFuture(this.memory.with(key, (lock) -> lock.keep(owner, time))));
	}

	@Override
	public Optional<LockInspection> inspection() {
		return Optional.of(this.inspection);
	}

	@Override
	public WaitingLine waitingLine() {
		return this.line;
	}

	@Override
	public boolean mayBlock() {
		return false;
	}

	boolean listens() {
		return this.listener != null;
	}

	/**
	 * Listeners are called outside the guard of the memory, because they may ask the
	 * store.
	 */
	private <T> T withTold(LockKey key, BiFunction<MemoryLock, Collection<MemoryLockStore>, T> operation) {
		Collection<MemoryLockStore> told = new LinkedHashSet<>();
		T result = this.memory.with(key, (lock) -> operation.apply(lock, told));
		told.forEach((jvm) -> jvm.tell(key));
		return result;
	}

	private void tell(LockKey key) {
		WaitingLine.Listener listener = this.listener;
		if (listener != null) {
			listener.onRelease(key);
		}
	}

	/**
	 * Shows the locks of the memory.
	 */
	private final class MemoryInspection implements LockInspection {

		@Override
		public CompletionStage<State> inspect(LockKey key) {
			return CompletableFuture.completedFuture(MemoryLockStore.this.memory.with(key, MemoryLock::state));
		}

		@Override
		public CompletionStage<Boolean> free(LockKey key, long fencingToken) {
			return CompletableFuture.completedFuture(withTold(key, (lock, told) -> {
				boolean freed = lock.free(LockInspection.baseOf(fencingToken));
				if (freed && lock.isFree()) {
					lock.queue().wake(MemoryLockStore.this, told);
				}
				return freed;
			}));
		}

	}

	/**
	 * The line that all stores of one memory share.
	 */
	private final class MemoryLine implements WaitingLine {

		@Override
		public boolean listen(WaitingLine.Listener listener) {
			MemoryLockStore.this.listener = listener;
			return true;
		}

		@Override
		public CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
			MemoryPlace place = MemoryPlace.of(MemoryLockStore.this, owner);
			withTold(key, (lock, told) -> {
				lock.queue().add(place);
				return place;
			});
			return CompletableFuture.completedFuture(null);
		}

		@Override
		public CompletionStage<Void> withdraw(LockKey key) {
			return withdraw(key, new MemoryPlace(MemoryLockStore.this, false, null));
		}

		@Override
		public CompletionStage<Void> withdraw(LockKey key, OwnerToken owner) {
			return withdraw(key, MemoryPlace.of(MemoryLockStore.this, owner));
		}

		private CompletionStage<Void> withdraw(LockKey key, MemoryPlace place) {
			withTold(key, (lock, told) -> {
				boolean turn = lock.queue().withdraw(place);
				if (lock.isShared()) {
					lock.queue().tellReaders(0, told);
				}
				if (turn && lock.isFree()) {
					lock.queue().wake(MemoryLockStore.this, told);
				}
				return place;
			});
			return CompletableFuture.completedFuture(null);
		}

	}

}
