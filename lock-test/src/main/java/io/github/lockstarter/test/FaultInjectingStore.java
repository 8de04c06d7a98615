// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.GroupGrant;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockKeeping;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.store.UnusableStoreException;
import io.github.lockstarter.store.WaitingLine;

/**
 * A store that fails on demand, either before it asks another store or after the answer
 * of that store. It counts its calls.
 */
public final class FaultInjectingStore implements LockStore {

	private final LockStore delegate;

	private volatile WaitingLine.@Nullable Listener listener;

	private volatile @Nullable LeaseRequest lastAcquired;

	private volatile Runnable interrupted = () -> {
	};

	private volatile Duration limit = LockStore.LONGEST_LEASE;

	public final Operation acquire = new Operation();

	public final Operation acquireAll = new Operation();

	public final Operation renew = new Operation();

	public final Operation keep = new Operation();

	public final Operation release = new Operation();

	public final Operation awaited = new Operation();

	public final Operation arrive = new Operation();

	public final Operation withdraw = new Operation();

	public FaultInjectingStore(LockStore delegate) {
		this.delegate = delegate;
	}

	@Override
	public String address() {
		return this.delegate.address();
	}

	@Override
	public Set<LockMode> modes() {
		return this.delegate.modes();
	}

	@Override
	public CompletionStage<?> connect() {
		return this.delegate.connect();
	}

	@Override
	public CompletionStage<LockAttempt> acquire(LeaseRequest request, boolean wait) {
		this.lastAcquired = request;
		return this.acquire.call(() -> this.delegate.acquire(request, wait));
	}

	/**
	 * Return the last request for a lock.
	 */
	public LeaseRequest lastAcquired() {
		return Objects.requireNonNull(this.lastAcquired);
	}

	@Override
	public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		return requests.stream()
			.map((request) -> this.renew.call(() -> this.delegate.renew(List.of(request)).get(0)))
			.toList();
	}

	@Override
	public CompletionStage<ReleaseOutcome> release(LockKey key, OwnerToken owner, @Nullable LockMode next) {
		return this.release.call(() -> this.delegate.release(key, owner, next));
	}

	@Override
	public Optional<LockKeeping> keeping() {
		return this.delegate.keeping()
			.map((keeping) -> (key, owner, time) -> this.keep.call(() -> keeping.keep(key, owner, time)));
	}

	@Override
	public Optional<GroupGrant> groupGrant() {
		return this.delegate.groupGrant().map(UncertainGroupGrant::new);
	}

	/**
	 * Let grants and renewals count for less than the store allows.
	 */
	public void limitLeases(Duration longestLease) {
		this.limit = longestLease;
	}

	@Override
	public void onInterruption(Runnable task) {
		this.delegate.onInterruption(task);
		this.interrupted = task;
	}

	/**
	 * Report that the connection is interrupted.
	 */
	public void interrupt() {
		this.interrupted.run();
	}

	@Override
	public Duration longestLease() {
		Duration longest = this.delegate.longestLease();
		return (this.limit.compareTo(longest) < 0) ? this.limit : longest;
	}

	@Override
	public WaitingLine waitingLine() {
		return new UncertainLine(this.delegate.waitingLine());
	}

	/**
	 * Notify the listener as after a lost connection.
	 */
	public void missMessages() {
		WaitingLine.Listener listener = this.listener;
		if (listener != null) {
			listener.onDoubt();
		}
	}

	/**
	 * The faults and the call count of one operation.
	 */
	public static final class Operation {

		private final AtomicInteger calls = new AtomicInteger();

		private volatile BooleanSupplier requestLost = () -> false;

		private volatile BooleanSupplier answerLost = () -> false;

		private volatile boolean refused;

		public int calls() {
			return this.calls.get();
		}

		/**
		 * Fail before the store is asked, while the condition holds.
		 */
		public void loseRequests(BooleanSupplier condition) {
			this.requestLost = condition;
		}

		/**
		 * Fail after the store has answered, while the condition holds.
		 */
		public void loseAnswers(BooleanSupplier condition) {
			this.answerLost = condition;
		}

		/**
		 * Fail from now on with an {@link UnusableStoreException}, after the store has
		 * answered.
		 */
		public void refuse() {
			this.refused = true;
		}

		private <T> CompletionStage<T> call(Supplier<CompletionStage<T>> operation) {
			this.calls.incrementAndGet();
			if (this.requestLost.getAsBoolean()) {
				return CompletableFuture.failedFuture(new StoreFault("request lost"));
			}
			CompletionStage<T> answer = operation.get();
			if (this.refused) {
				return CompletableFuture
					.failedFuture(new UnusableStoreException("not allowed", new StoreFault("refused")));
			}
			return this.answerLost.getAsBoolean() ? CompletableFuture.failedFuture(new StoreFault("answer lost"))
					: answer;
		}

	}

	private final class UncertainGroupGrant implements GroupGrant {

		private final GroupGrant delegate;

		UncertainGroupGrant(GroupGrant delegate) {
			this.delegate = delegate;
		}

		@Override
		public boolean isPossibleFor(Collection<LockKey> keys) {
			return this.delegate.isPossibleFor(keys);
		}

		@Override
		public CompletionStage<List<LockAttempt.Grant>> acquire(List<LeaseRequest> requests) {
			return FaultInjectingStore.this.acquireAll.call(() -> this.delegate.acquire(requests));
		}

	}

	private final class UncertainLine implements WaitingLine {

		private final WaitingLine delegate;

		UncertainLine(WaitingLine delegate) {
			this.delegate = delegate;
		}

		@Override
		public boolean listen(WaitingLine.Listener listener) {
			FaultInjectingStore.this.listener = listener;
			return this.delegate.listen(listener);
		}

		@Override
		public CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
			return FaultInjectingStore.this.arrive.call(() -> this.delegate.enter(key, owner));
		}

		@Override
		public CompletionStage<Void> withdraw(LockKey key) {
			return FaultInjectingStore.this.withdraw.call(() -> this.delegate.withdraw(key));
		}

		@Override
		public CompletionStage<Void> withdraw(LockKey key, OwnerToken owner) {
			return FaultInjectingStore.this.withdraw.call(() -> this.delegate.withdraw(key, owner));
		}

		@Override
		public CompletionStage<Boolean> isAwaited(LockKey key) {
			return FaultInjectingStore.this.awaited.call(() -> this.delegate.isAwaited(key));
		}

	}

	/**
	 * The failure of a broken connection.
	 */
	public static final class StoreFault extends RuntimeException {

		StoreFault(String message) {
			super(message);
		}

	}

}
