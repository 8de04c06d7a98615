// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.UnusableStoreException;
import io.github.lockstarter.store.WaitingLine;

/**
 * A store that fails on demand, either before it asks another store or after the answer
 * of that store. It counts its calls.
 */
public final class FaultInjectingStore extends DelegatingStore {

	private volatile WaitingLine.@Nullable Listener listener;

	private volatile @Nullable LeaseRequest lastAcquired;

	private volatile Runnable interrupted = () -> {
	};

	private volatile Duration limit = LockStore.LONGEST_LEASE;

	public final Operation acquire = new Operation();

	public final Operation renew = new Operation();

	public final Operation keep = new Operation();

	public final Operation release = new Operation();

	public final Operation arrive = new Operation();

	public final Operation withdraw = new Operation();

	/** Also frees locks. */
	public final Operation inspect = new Operation();

	public FaultInjectingStore(LockStore delegate) {
		super(delegate);
	}

	@Override
	protected <T> CompletionStage<T> ask(Request kind, Supplier<CompletionStage<T>> request) {
		Operation operation = switch (kind) {
			case ACQUIRE -> this.acquire;
			case KEEP -> this.keep;
			case RELEASE -> this.release;
			case ENTER -> this.arrive;
			case WITHDRAW -> this.withdraw;
			case INSPECT, FREE -> this.inspect;
		};
		return operation.call(request);
	}

	/** A condition of a test may block. */
	@Override
	public boolean mayBlock() {
		return true;
	}

	@Override
	public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
		this.lastAcquired = request;
		return super.acquire(request, wait);
	}

	/**
	 * Return the last request for a lock.
	 */
	public LeaseRequest lastAcquired() {
		return Objects.requireNonNull(this.lastAcquired);
	}

	@Override
	public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
		return requests.stream().map((request) -> this.renew.call(() -> super.renew(List.of(request)).get(0))).toList();
	}

	/**
	 * Let grants and renewals count for less than the store allows.
	 */
	public void limitLeases(Duration longestLease) {
		this.limit = longestLease;
	}

	@Override
	public void onInterruption(Runnable task) {
		super.onInterruption(task);
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
		Duration longest = super.longestLease();
		return (this.limit.compareTo(longest) < 0) ? this.limit : longest;
	}

	@Override
	protected boolean listen(WaitingLine.Listener listener) {
		this.listener = listener;
		return super.listen(listener);
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

	/**
	 * The failure of a broken connection.
	 */
	public static final class StoreFault extends RuntimeException {

		StoreFault(String message) {
			super(message);
		}

	}

}
