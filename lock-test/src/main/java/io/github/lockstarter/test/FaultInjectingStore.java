// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.test;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

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
import io.github.lockstarter.store.UnusableStoreException;

/**
 * A store that fails on demand, before another one is asked or after it has answered, and
 * counts its calls.
 */
public final class FaultInjectingStore implements LockStore {

	private final LockStore delegate;

	private volatile @Nullable ReleaseListener listener;

	private volatile @Nullable LeaseRequest lastAcquired;

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
	public LockAttempt acquire(LockKey key, OwnerToken owner, Duration leaseTime, boolean queue) {
		this.lastAcquired = new LeaseRequest(key, owner, leaseTime);
		return this.acquire.call(() -> this.delegate.acquire(key, owner, leaseTime, queue));
	}

	/**
	 * Return what was asked for last.
	 */
	public LeaseRequest lastAcquired() {
		return Objects.requireNonNull(this.lastAcquired);
	}

	@Override
	public @Nullable List<LockGrant> acquireAll(List<LeaseRequest> requests) {
		return this.acquireAll.call(() -> this.delegate.acquireAll(requests));
	}

	@Override
	public boolean renew(LockKey key, OwnerToken owner, Duration leaseTime) {
		return this.renew.call(() -> this.delegate.renew(key, owner, leaseTime));
	}

	@Override
	public boolean keep(LockKey key, OwnerToken owner, Duration time) {
		return this.keep.call(() -> this.delegate.keep(key, owner, time));
	}

	@Override
	public ReleaseOutcome release(LockKey key, OwnerToken owner, @Nullable LockMode next) {
		return this.release.call(() -> this.delegate.release(key, owner, next));
	}

	@Override
	public boolean isAwaited(LockKey key) {
		return this.awaited.call(() -> this.delegate.isAwaited(key));
	}

	@Override
	public void withdraw(LockKey key) {
		this.withdraw.call(() -> {
			this.delegate.withdraw(key);
			return true;
		});
	}

	@Override
	public void arrive(LockKey key, OwnerToken owner) {
		this.arrive.call(() -> {
			this.delegate.arrive(key, owner);
			return true;
		});
	}

	@Override
	public void withdraw(LockKey key, OwnerToken owner) {
		this.withdraw.call(() -> {
			this.delegate.withdraw(key, owner);
			return true;
		});
	}

	@Override
	public ReleaseSignal releaseSignal() {
		return (listener) -> {
			this.listener = listener;
			return this.delegate.releaseSignal().connect(listener);
		};
	}

	/**
	 * Tell the listener of messages what it is told after a connection was lost.
	 */
	public void missMessages() {
		ReleaseListener listener = this.listener;
		if (listener != null) {
			listener.onDoubt();
		}
	}

	/**
	 * The faults and the count of one operation.
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
		 * Fail without asking the store while the condition holds.
		 */
		public void loseRequests(BooleanSupplier condition) {
			this.requestLost = condition;
		}

		/**
		 * Fail after the store has answered while the condition holds.
		 */
		public void loseAnswers(BooleanSupplier condition) {
			this.answerLost = condition;
		}

		/**
		 * Fail from now on, after the store has answered, in a way that waiting does not
		 * mend.
		 */
		public void refuse() {
			this.refused = true;
		}

		private <T> T call(Supplier<T> operation) {
			this.calls.incrementAndGet();
			if (this.requestLost.getAsBoolean()) {
				throw new StoreFault("request lost");
			}
			T answer = operation.get();
			if (this.refused) {
				throw new UnusableStoreException("not allowed", new StoreFault("refused"));
			}
			if (this.answerLost.getAsBoolean()) {
				throw new StoreFault("answer lost");
			}
			return answer;
		}

	}

	/**
	 * What a broken connection looks like.
	 */
	public static final class StoreFault extends RuntimeException {

		StoreFault(String message) {
			super(message);
		}

	}

}
