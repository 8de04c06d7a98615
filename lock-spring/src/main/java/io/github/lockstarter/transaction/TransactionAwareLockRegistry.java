// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.transaction.TransactionAwareLeaseSet.Terms;

/**
 * A registry whose locks take the transactions of Spring into account. A lock that a
 * thread has acquired or closes inside a transaction is held until the transaction is
 * completed, so that the next owner sees what was written under it. What the thread read
 * before is not taken for fresh: the body of an annotated method or a
 * {@link io.github.lockstarter.LockTemplate} runs without the persistence context that is
 * open, and other late locks are warned of.
 *
 * <p>
 * Auto-configuration and {@code @EnableDistributedLocks} declare it as a bean if
 * transactions are on the class path. Leases for another {@linkplain LockRequest#owner()
 * owner} than their thread, and those of futures, belong to no transaction.
 *
 * @see LockCommitGuard
 */
public final class TransactionAwareLockRegistry implements LockRegistry, AutoCloseable {

	/** Set while listeners are told of a refused transaction. */
	private static final ThreadLocal<Boolean> refusing = new ThreadLocal<>();

	private final String name;

	private final LockRegistry delegate;

	private final StaleReadGuard guard;

	private final LockListener listener;

	/** Tells when fixed leases that nobody closes are to be forgotten. */
	private final LongSupplier nanoTime;

	private volatile boolean closed;

	/**
	 * Create a registry around another one.
	 * @param name the name of the registry in events and in the tables of fenced
	 * transactions, the same in all instances
	 * @param delegate acquires the locks
	 * @param onActiveTransaction the reaction to a transaction that is already active
	 * @param onPersistenceContext the reaction to an open persistence context
	 * @param listener is told of {@link io.github.lockstarter.event.LockEvent.Late locks
	 * that come late} and of
	 * {@link io.github.lockstarter.event.LockEvent.TransactionRefused refused
	 * transactions}
	 */
	public TransactionAwareLockRegistry(String name, LockRegistry delegate, OnActiveTransaction onActiveTransaction,
			OnPersistenceContext onPersistenceContext, LockListener listener) {
		this(name, delegate, onActiveTransaction, onPersistenceContext, listener, System::nanoTime);
	}

	TransactionAwareLockRegistry(String name, LockRegistry delegate, OnActiveTransaction onActiveTransaction,
			OnPersistenceContext onPersistenceContext, LockListener listener, LongSupplier nanoTime) {
		this.name = name;
		this.delegate = delegate;
		this.nanoTime = nanoTime;
		this.guard = new StaleReadGuard(onActiveTransaction, onPersistenceContext);
		this.listener = LockListener.of(List.of(listener));
	}

	@Override
	public LockRegistry delegate() {
		// A mock has none
		return Objects.requireNonNullElse(this.delegate.delegate(), this.delegate);
	}

	String name() {
		return this.name;
	}

	boolean isClosed() {
		return this.closed;
	}

	private Terms terms(LockRequest.@Nullable Body body) {
		return new Terms(this.guard.onActiveTransaction() != OnActiveTransaction.RELEASE_ON_RETURN,
				body == null || body.onLost() != OnLost.LOG,
				(body != null) ? body.transactionFencing() : TransactionFencing.DEFAULT);
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalStateException if a transaction is active or a persistence context
	 * is open, and locks must not be acquired then
	 */
	@Override
	public Lease acquire(LockRequest request) {
		return acquire(List.of(request), () -> this.delegate.acquire(request));
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalStateException if a transaction is active or a persistence context
	 * is open, and locks must not be acquired then
	 */
	@Override
	public Optional<Lease> tryAcquire(LockRequest request) {
		return Optional.ofNullable(
				this.<@Nullable Lease>acquire(List.of(request), () -> this.delegate.tryAcquire(request).orElse(null)));
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalStateException if a transaction is active or a persistence context
	 * is open, and locks must not be acquired then
	 */
	@Override
	public LeaseSet acquireAll(Collection<LockRequest> requests) {
		return acquire(List.copyOf(requests), () -> this.delegate.acquireAll(requests));
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalStateException if a transaction is active or a persistence context
	 * is open, and locks must not be acquired then
	 */
	@Override
	public Optional<LeaseSet> tryAcquireAll(Collection<LockRequest> requests) {
		return Optional.ofNullable(this.<@Nullable LeaseSet>acquire(List.copyOf(requests),
				() -> this.delegate.tryAcquireAll(requests).orElse(null)));
	}

	private <L extends @Nullable LeaseSet> L acquire(List<LockRequest> locks, Supplier<L> acquisition) {
		LockRequest.Body body = bodyOf(locks);
		// A set with other owners as well is held until the end of the transaction as a
		// whole. A body runs on this thread, whoever owns its locks
		if (body == null && haveOwners(locks)) {
			return acquisition.get();
		}
		Duration fixed = (body == null) ? fixedTime(locks) : null;
		StaleReadGuard.Decision decision = this.guard.decide(locks, body != null, LeasesOfThread.cover(this, locks));
		if (decision.isolated()) {
			PersistenceContexts.disconnect();
		}
		L lease = acquisition.get();
		return (lease != null) ? aware(lease, terms(body), fixed, decision) : lease;
	}

	/** All requests of a template have the same. */
	private static LockRequest.@Nullable Body bodyOf(Collection<LockRequest> locks) {
		return locks.isEmpty() ? null : locks.iterator().next().body();
	}

	private static boolean haveOwners(List<LockRequest> locks) {
		for (LockRequest each : locks) {
			if (each.owner() == null) {
				return false;
			}
		}
		return true;
	}

	private <L extends LeaseSet> L aware(L lease, Terms terms, @Nullable Duration fixed,
			StaleReadGuard.Decision decision) {
		long granted = this.nanoTime.getAsLong();
		BooleanSupplier over = (fixed == null) ? null : () -> this.nanoTime.getAsLong() - granted >= fixed.toNanos();
		L aware = TransactionAwareLeaseSet.of(this, lease, terms, over,
				decision.isolated() ? PersistenceContexts.suspend() : null);
		TransactionAwareLeaseSet leases = (TransactionAwareLeaseSet) (LeaseSet) aware;
		LeasesOfThread.add(leases);
		try {
			String reason = decision.late();
			if (reason != null) {
				lease.all()
					.forEach((each) -> this.listener.onEvent(
							new LockEvent.Late(each.key(), each.mode(), this.name, reason, decision.transaction())));
			}
			if (decision.deferred()) {
				leases.awaitCompletion();
				claim();
			}
			return aware;
		}
		catch (RuntimeException ex) {
			aware.closeAsync();
			throw ex;
		}
	}

	/**
	 * Tell the listener that the transaction of a late owner was refused. A transaction
	 * that the listener itself begins is refused as well, which it is not told.
	 */
	void transactionRefused(Lease lease) {
		if (refusing.get() != null) {
			return;
		}
		refusing.set(Boolean.TRUE);
		try {
			this.listener
				.onEvent(new LockEvent.TransactionRefused(lease.key(), lease.mode(), this.name, lease.fencingToken()));
		}
		finally {
			refusing.remove();
		}
	}

	/**
	 * Let fenced transactions claim the tokens of locks that are acquired inside of them.
	 */
	private static void claim() {
		for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
			if (each instanceof AcquisitionSynchronization acquisitions) {
				acquisitions.locksAcquired();
			}
		}
	}

	/**
	 * Return after what time all leases are over, or {@code null} if one of them is
	 * renewed until it is closed.
	 */
	private @Nullable Duration fixedTime(List<LockRequest> locks) {
		Duration longest = Duration.ZERO;
		for (LockRequest each : locks) {
			LockRequest limited = settings().limit(each);
			Duration limit = (limited.leaseTime() != null) ? limited.leaseTime() : limited.holdAtMost();
			if (limit == null) {
				return null;
			}
			longest = (limit.compareTo(longest) > 0) ? limit : longest;
		}
		return longest;
	}

	@Override
	public CompletableFuture<Lease> acquireAsync(LockRequest request) {
		return aware(this.delegate.acquireAsync(request), request.body());
	}

	@Override
	public CompletableFuture<LeaseSet> acquireAllAsync(Collection<LockRequest> requests) {
		return aware(this.delegate.acquireAllAsync(requests), bodyOf(requests));
	}

	/**
	 * The transactions inside of a body are guarded, on whatever thread it runs.
	 */
	private <L extends LeaseSet> CompletableFuture<L> aware(CompletableFuture<L> future,
			LockRequest.@Nullable Body body) {
		// A mock returns null
		return (body == null || future == null) ? future : new FutureLease<>(future,
				(lease) -> TransactionAwareLeaseSet.of(this, lease, terms(body).notDeferring(), null, null));
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalArgumentException if the store has no shared locks
	 */
	@Override
	public ReadWriteLock readWriteLock(LockKey key) {
		this.delegate.readWriteLock(key);
		return LockRegistry.super.readWriteLock(key);
	}

	@Override
	public LockSettings settings() {
		// A mock has none
		return Objects.requireNonNullElse(this.delegate.settings(), LockSettings.NONE);
	}

	/**
	 * Close the registry that acquires the locks.
	 */
	@Override
	public void close() throws Exception {
		this.closed = true;
		if (this.delegate instanceof AutoCloseable closeable) {
			closeable.close();
		}
	}

	@Override
	public String toString() {
		return "Lock registry '" + this.name + "'";
	}

	/**
	 * A lease that may still be waited for. To end it early ends the wait.
	 *
	 * @param <L> a {@link Lease} or a {@link LeaseSet}
	 */
	private static final class FutureLease<L extends LeaseSet> extends CompletableFuture<L> {

		private final Executor executor;

		FutureLease(CompletableFuture<L> acquisition, UnaryOperator<L> aware) {
			this.executor = acquisition.defaultExecutor();
			acquisition.whenComplete((lease, ex) -> {
				if (ex != null) {
					completeExceptionally(ex);
				}
				else if (!complete((lease != null) ? aware.apply(lease) : null) && lease != null) {
					lease.closeAsync();
				}
			});
			whenComplete((lease, ex) -> acquisition.cancel(false));
		}

		@Override
		public Executor defaultExecutor() {
			return this.executor;
		}

	}

}
