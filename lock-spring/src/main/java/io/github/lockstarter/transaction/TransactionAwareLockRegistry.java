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

import io.github.lockstarter.BodyAwareLockRegistry;
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
public final class TransactionAwareLockRegistry implements BodyAwareLockRegistry, AutoCloseable {

	private static final String NO_LEASE = "The LockRegistry has returned no lease. A mock has to return one";

	private final String name;

	private final LockRegistry delegate;

	private final StaleReadGuard guard;

	private final LockListener listener;

	/** For bodies, or {@code null} for leases without one. */
	private final @Nullable Terms ofBodies;

	/** Tells when fixed leases that nobody closes are to be forgotten. */
	private final LongSupplier nanoTime;

	/**
	 * Create a registry around another one.
	 * @param name the name of the registry in events and in the tables of fenced
	 * transactions, the same in all instances
	 * @param delegate acquires the locks
	 * @param onActiveTransaction the reaction to a transaction that is already active
	 * @param onPersistenceContext the reaction to an open persistence context
	 * @param listener is told of {@link io.github.lockstarter.event.LockEvent.Late locks
	 * that come late}
	 */
	public TransactionAwareLockRegistry(String name, LockRegistry delegate, OnActiveTransaction onActiveTransaction,
			OnPersistenceContext onPersistenceContext, LockListener listener) {
		this(name, delegate, new StaleReadGuard(onActiveTransaction, onPersistenceContext),
				LockListener.of(List.of(listener)), null, System::nanoTime);
	}

	TransactionAwareLockRegistry(String name, LockRegistry delegate, OnActiveTransaction onActiveTransaction,
			OnPersistenceContext onPersistenceContext, LockListener listener, LongSupplier nanoTime) {
		this(name, delegate, new StaleReadGuard(onActiveTransaction, onPersistenceContext),
				LockListener.of(List.of(listener)), null, nanoTime);
	}

	private TransactionAwareLockRegistry(String name, LockRegistry delegate, StaleReadGuard guard,
			LockListener listener, @Nullable Terms ofBodies, LongSupplier nanoTime) {
		this.name = name;
		this.delegate = delegate;
		this.nanoTime = nanoTime;
		this.guard = guard;
		this.listener = listener;
		this.ofBodies = ofBodies;
	}

	@Override
	public LockRegistry forBodies(OnLost onLost, TransactionFencing transactionFencing) {
		return new TransactionAwareLockRegistry(this.name, this.delegate, this.guard, this.listener,
				new Terms(isDeferring(), onLost != OnLost.LOG, transactionFencing), this.nanoTime);
	}

	/**
	 * Return the registry that acquires the locks.
	 */
	@Override
	public LockRegistry delegate() {
		return this.delegate;
	}

	String name() {
		return this.name;
	}

	private boolean isDeferring() {
		return this.guard.onActiveTransaction() != OnActiveTransaction.RELEASE_ON_RETURN;
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalStateException if a transaction is active or a persistence context
	 * is open, and locks must not be acquired then
	 */
	@Override
	public Lease acquire(LockRequest request) {
		return required(acquire(List.of(request), () -> this.delegate.acquire(request)));
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalStateException if a transaction is active or a persistence context
	 * is open, and locks must not be acquired then
	 */
	@Override
	public Optional<Lease> tryAcquire(LockRequest request) {
		return Optional.ofNullable(acquire(List.of(request), () -> this.delegate.tryAcquire(request).orElse(null)));
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalStateException if a transaction is active or a persistence context
	 * is open, and locks must not be acquired then
	 */
	@Override
	public LeaseSet acquireAll(Collection<LockRequest> requests) {
		return required(acquire(List.copyOf(requests), () -> this.delegate.acquireAll(requests)));
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalStateException if a transaction is active or a persistence context
	 * is open, and locks must not be acquired then
	 */
	@Override
	public Optional<LeaseSet> tryAcquireAll(Collection<LockRequest> requests) {
		return Optional
			.ofNullable(acquire(List.copyOf(requests), () -> this.delegate.tryAcquireAll(requests).orElse(null)));
	}

	private <L extends LeaseSet> @Nullable L acquire(List<LockRequest> locks, Supplier<@Nullable L> acquisition) {
		// A set with other owners as well is held until the end of the transaction as a
		// whole. A body runs on this thread, whoever owns its locks
		if (this.ofBodies == null && locks.stream().noneMatch((each) -> each.owner() == null)) {
			return acquisition.get();
		}
		Duration fixed = (this.ofBodies == null) ? fixedTime(locks) : null;
		StaleReadGuard.Decision decision = this.guard.decide(locks, this.ofBodies != null,
				LeasesOfThread.cover(this, locks));
		if (decision.isolated()) {
			PersistenceContexts.disconnect();
		}
		L lease = acquisition.get();
		return (lease != null) ? aware(lease, fixed, decision) : null;
	}

	private static <L extends LeaseSet> L required(@Nullable L lease) {
		return Objects.requireNonNull(lease, NO_LEASE);
	}

	private <L extends LeaseSet> L aware(L lease, @Nullable Duration fixed, StaleReadGuard.Decision decision) {
		Terms terms = (this.ofBodies != null) ? this.ofBodies
				: new Terms(isDeferring(), true, TransactionFencing.DEFAULT);
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
	 * Return the longest lease time, or {@code null} if one of the leases is renewed.
	 */
	private @Nullable Duration fixedTime(List<LockRequest> locks) {
		Duration longest = Duration.ZERO;
		for (LockRequest each : locks) {
			Duration leaseTime = (each.leaseTime() != null) ? each.leaseTime()
					: settings().get(each.key().name()).leaseTime();
			if (leaseTime == null) {
				return null;
			}
			longest = (leaseTime.compareTo(longest) > 0) ? leaseTime : longest;
		}
		return longest;
	}

	@Override
	public CompletableFuture<Lease> acquireAsync(LockRequest request) {
		return aware(this.delegate.acquireAsync(request));
	}

	@Override
	public CompletableFuture<LeaseSet> acquireAllAsync(Collection<LockRequest> requests) {
		return aware(this.delegate.acquireAllAsync(requests));
	}

	/**
	 * The transactions inside of a body are guarded, on whatever thread it runs.
	 */
	private <L extends LeaseSet> CompletableFuture<L> aware(CompletableFuture<L> future) {
		Terms terms = this.ofBodies;
		return (terms == null) ? future : new FutureLease<>(Objects.requireNonNull(future, NO_LEASE),
				(lease) -> TransactionAwareLeaseSet.of(this, lease, terms.notDeferring(), null, null));
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalArgumentException if the store has no shared locks
	 */
	@Override
	public ReadWriteLock readWriteLock(LockKey key) {
		this.delegate.readWriteLock(key);
		return BodyAwareLockRegistry.super.readWriteLock(key);
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
				if (ex != null || lease == null) {
					completeExceptionally((ex != null) ? ex : new IllegalStateException(NO_LEASE));
				}
				else if (!complete(aware.apply(lease))) {
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
