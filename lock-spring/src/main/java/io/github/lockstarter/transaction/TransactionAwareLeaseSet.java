// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.TransactionFencing;

/**
 * Leases that outlive the transactions of their thread: closed inside a transaction, they
 * can no longer be used, and are released when the transaction is completed.
 */
class TransactionAwareLeaseSet implements LeaseSet {

	private static final Log logger = LogFactory.getLog(TransactionAwareLeaseSet.class);

	private final TransactionAwareLockRegistry registry;

	private final LeaseSet delegate;

	/** Those of a set, which may be closed one by one. */
	private final List<One> all;

	private final Terms terms;

	/**
	 * Whether the fixed time of all leases is over, or {@code null} if one is renewed.
	 */
	private final @Nullable BooleanSupplier over;

	/**
	 * The persistence contexts without which the body runs; changed by its thread only.
	 */
	private @Nullable PersistenceContexts suspended;

	private final Thread thread = Thread.currentThread();

	private volatile boolean closed;

	private volatile boolean ended;

	/**
	 * How many transactions hold the leases until their completion. Guarded by this.
	 */
	private int transactions;

	TransactionAwareLeaseSet(TransactionAwareLockRegistry registry, LeaseSet delegate, Terms terms,
			@Nullable BooleanSupplier over, @Nullable PersistenceContexts suspended) {
		this.registry = registry;
		this.delegate = delegate;
		this.all = (delegate instanceof Lease) ? List.of()
				: delegate.all().stream().map((each) -> new One(registry, each, terms, over, null)).toList();
		this.terms = terms;
		this.over = over;
		this.suspended = suspended;
	}

	/**
	 * Return leases that take part in transactions.
	 * @param <L> a {@link Lease} or a {@link LeaseSet}
	 */
	@SuppressWarnings("unchecked")
	static <L extends LeaseSet> L of(TransactionAwareLockRegistry registry, L delegate, Terms terms,
			@Nullable BooleanSupplier over, @Nullable PersistenceContexts suspended) {
		return (L) ((delegate instanceof Lease lease) ? new One(registry, lease, terms, over, suspended)
				: new TransactionAwareLeaseSet(registry, delegate, terms, over, suspended));
	}

	/**
	 * Return the registry of the locks: those of another one are different locks.
	 */
	TransactionAwareLockRegistry registry() {
		return this.registry;
	}

	LeaseSet delegate() {
		return this.delegate;
	}

	/**
	 * Return the leases that are still to be released. Those of a set may have been
	 * closed one by one.
	 */
	List<Lease> unreleased() {
		return this.all.stream().filter((each) -> !each.isEnded()).map((each) -> each.delegate).toList();
	}

	boolean lossMatters() {
		return this.terms.lossMatters();
	}

	/**
	 * Return whether transactions claim the fencing tokens.
	 * @param byDefault what applies where nothing is said
	 */
	boolean isFenced(boolean byDefault) {
		return switch (this.terms.fencing()) {
			case DEFAULT -> byDefault && lossMatters();
			case ON -> true;
			case OFF -> false;
		};
	}

	boolean isEnded() {
		return this.ended;
	}

	/**
	 * Return whether nobody needs to close the leases, because their registry is closed
	 * or their fixed time is over.
	 */
	boolean isExpired() {
		return this.registry.isClosed() || (this.over != null && this.over.getAsBoolean() && !this.delegate.isHeld());
	}

	/**
	 * Hold the leases at least until the current transaction is completed.
	 */
	void awaitCompletion() {
		count();
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				completed(status);
			}

		});
	}

	/** One callback for a set, which may be large, counts for all of its leases. */
	synchronized void count() {
		if (!this.ended) {
			this.transactions++;
			this.all.forEach(One::count);
		}
	}

	/**
	 * Hold the leases at least until the current transaction is completed, which has
	 * begun under them. It may be suspended when they are closed, or they are closed on
	 * another thread.
	 */
	synchronized void cover() {
		if (this.terms.deferring() && !this.closed) {
			awaitCompletion();
		}
	}

	void completed(int status) {
		if (isReleasable()) {
			release(status);
		}
		this.all.forEach((each) -> each.completed(status));
	}

	private synchronized boolean isReleasable() {
		if (this.ended) {
			return false;
		}
		this.transactions--;
		this.ended = this.closed && this.transactions == 0;
		return this.ended;
	}

	private void release(int status) {
		LeasesOfThread.forgetEnded();
		try (LeaseSet released = this.delegate) {
			if (status != TransactionSynchronization.STATUS_COMMITTED) {
				released.holdAtLeast(Duration.ZERO);
			}
		}
		catch (LockLostException ex) {
			if (lossMatters() && status != TransactionSynchronization.STATUS_ROLLED_BACK) {
				logger
					.warn(ex.getMessage() + ". Its transaction was not rolled back, because that was not known before."
							+ " To have the transactions of late owners refused, fence them with"
							+ " distributed-lock.fencing.transactions=true");
			}
		}
	}

	@Override
	public List<Lease> all() {
		return List.copyOf(this.all);
	}

	@Override
	public boolean isHeld() {
		return !this.closed && this.delegate.isHeld() && this.all.stream().allMatch(Lease::isHeld);
	}

	@Override
	public void ensureHeld() {
		if (this.closed) {
			throw new IllegalStateException(isAwaitingCompletion()
					? "The lease is closed, and released after the transaction: close it later, or acquire the lock again"
					: "The lease is closed: close it later, or acquire the lock again");
		}
		this.delegate.ensureHeld();
		this.all.forEach(Lease::ensureHeld);
	}

	private synchronized boolean isAwaitingCompletion() {
		return this.transactions > 0;
	}

	@Override
	public Duration remaining() {
		return isHeld() ? this.delegate.remaining() : Duration.ZERO;
	}

	@Override
	public void onLost(Consumer<LockLostException> callback) {
		if (!this.closed) {
			this.delegate.onLost(callback);
		}
	}

	@Override
	public void holdAtLeast(Duration time) {
		if (!this.closed) {
			this.delegate.holdAtLeast(time);
		}
	}

	@Override
	public void close() {
		if (leave()) {
			this.delegate.close();
		}
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		try {
			return leave() ? this.delegate.closeAsync() : CompletableFuture.completedFuture(null);
		}
		catch (LockLostException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * End the leases for their owner.
	 * @return whether they must be released now
	 * @throws LockLostException if one was lost and they are released later
	 */
	private boolean leave() {
		resume();
		synchronized (this) {
			if (this.closed) {
				return false;
			}
			if (this.transactions == 0 && this.terms.deferring() && StaleReadGuard.isTransactionActive()) {
				awaitCompletion();
			}
			this.closed = true;
			this.ended = this.transactions == 0;
		}
		if (this.ended) {
			LeasesOfThread.forgetEnded();
			return true;
		}
		unreleased().forEach(Lease::ensureHeld);
		return false;
	}

	/**
	 * Give the thread its persistence contexts back when the body has returned. The body
	 * may close its lease before, inside a transaction or on another thread.
	 */
	private void resume() {
		PersistenceContexts suspended = this.suspended;
		if (suspended != null && Thread.currentThread() == this.thread && !StaleReadGuard.isTransactionActive()) {
			this.suspended = null;
			suspended.resume();
		}
	}

	@Override
	public String toString() {
		return this.delegate + ((this.closed && isAwaitingCompletion()) ? " until the transaction ends" : "");
	}

	/**
	 * What leases mean to transactions.
	 *
	 * @param deferring whether the leases are held until the end of a transaction inside
	 * which they are closed
	 * @param lossMatters whether a transaction must not commit after the loss of one
	 * @param fencing whether transactions claim their fencing tokens
	 */
	record Terms(boolean deferring, boolean lossMatters, TransactionFencing fencing) {

		Terms notDeferring() {
			return new Terms(false, this.lossMatters, this.fencing);
		}

	}

	/**
	 * The lease of one lock.
	 */
	private static final class One extends TransactionAwareLeaseSet implements Lease {

		private final Lease delegate;

		One(TransactionAwareLockRegistry registry, Lease delegate, Terms terms, @Nullable BooleanSupplier over,
				@Nullable PersistenceContexts suspended) {
			super(registry, delegate, terms, over, suspended);
			this.delegate = delegate;
		}

		@Override
		public LockKey key() {
			return this.delegate.key();
		}

		@Override
		public List<Lease> all() {
			return List.of(this);
		}

		@Override
		List<Lease> unreleased() {
			return List.of(this.delegate);
		}

		@Override
		public long fencingToken() {
			return this.delegate.fencingToken();
		}

		@Override
		public LockMode mode() {
			return this.delegate.mode();
		}

	}

}
