// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * A registry whose locks outlive the transactions of the threads that acquire them. A
 * lock that is acquired or closed inside a transaction is released after its completion,
 * and with {@code LockCommitGuard} no transaction commits once it is known that its
 * thread has lost a lock.
 *
 * <p>
 * With transactions, auto-configuration wraps the registry bean in one; wrap a registry
 * of your own for the same effect. A lease that is acquired asynchronously or on behalf
 * of an owner belongs to no thread, and takes part in no transaction. No lease of a
 * registry is the {@linkplain Lease#current() current} one.
 */
public final class TransactionAwareLockRegistry implements LockRegistry {

	private final LockRegistry delegate;

	private final OnActiveTransaction onActiveTransaction;

	private final FreshReads reads;

	private final LockSettings settings;

	/** Tells when the fixed leases that nobody closes are to be forgotten. */
	private final LongSupplier nanoTime;

	/** The leases behind the {@link Lock} views that a thread has locked. */
	private final ThreadLocal<@Nullable Map<LockRequest, Deque<Lease>>> locked = new ThreadLocal<>();

	/**
	 * Create a registry around another one.
	 * @param delegate acquires the locks
	 * @param onActiveTransaction the reaction to a transaction that is already active
	 */
	public TransactionAwareLockRegistry(LockRegistry delegate, OnActiveTransaction onActiveTransaction) {
		this(delegate, onActiveTransaction, OnPersistenceContext.ISOLATE);
	}

	/**
	 * Create a registry around another one.
	 * @param delegate acquires the locks
	 * @param onActiveTransaction the reaction to a transaction that is already active
	 * @param persistenceContext the reaction to an open persistence context
	 */
	public TransactionAwareLockRegistry(LockRegistry delegate, OnActiveTransaction onActiveTransaction,
			OnPersistenceContext persistenceContext) {
		this(delegate, onActiveTransaction, persistenceContext, System::nanoTime);
	}

	TransactionAwareLockRegistry(LockRegistry delegate, OnActiveTransaction onActiveTransaction,
			OnPersistenceContext persistenceContext, LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
		this.delegate = delegate;
		this.onActiveTransaction = onActiveTransaction;
		this.reads = FreshReads.byDefault(onActiveTransaction, persistenceContext);
		this.settings = LockSettings.of(delegate);
	}

	/**
	 * Return the registry without its transactions, for code that handles transactions
	 * itself.
	 */
	static LockRegistry unwrap(LockRegistry registry) {
		return (registry instanceof TransactionAwareLockRegistry aware) ? aware.delegate : registry;
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalStateException if a transaction is active and locks must not be
	 * acquired inside one, or if a persistence context is open and locks must not be
	 * acquired then
	 */
	@Override
	public Lease acquire(LockRequest request) {
		boolean inTransaction = isOfThread(request) && defersRelease(request);
		LockRequest complete = this.settings.forLease(request);
		return inTransaction(this.delegate.acquire(complete), complete, inTransaction);
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalStateException if a transaction is active and locks must not be
	 * acquired inside one, or if a persistence context is open and locks must not be
	 * acquired then
	 */
	@Override
	public Optional<Lease> tryAcquire(LockRequest request) {
		boolean inTransaction = isOfThread(request) && defersRelease(request);
		LockRequest complete = this.settings.forLease(request);
		return this.delegate.tryAcquire(complete).map((lease) -> inTransaction(lease, complete, inTransaction));
	}

	@Override
	public CompletableFuture<Lease> acquireAsync(LockRequest request) {
		return this.delegate.acquireAsync(request);
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalStateException if a transaction is active and locks must not be
	 * acquired inside one, or if a persistence context is open and locks must not be
	 * acquired then
	 */
	@Override
	public LeaseSet acquireAll(LockSetRequest request) {
		boolean inTransaction = isOfThread(request) && defersRelease(request);
		LockSetRequest complete = this.settings.forLease(request);
		return inTransaction(this.delegate.acquireAll(complete), complete, inTransaction);
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalStateException if a transaction is active and locks must not be
	 * acquired inside one, or if a persistence context is open and locks must not be
	 * acquired then
	 */
	@Override
	public Optional<LeaseSet> tryAcquireAll(LockSetRequest request) {
		boolean inTransaction = isOfThread(request) && defersRelease(request);
		LockSetRequest complete = this.settings.forLease(request);
		return this.delegate.tryAcquireAll(complete).map((leases) -> inTransaction(leases, complete, inTransaction));
	}

	@Override
	public CompletableFuture<LeaseSet> acquireAllAsync(LockSetRequest request) {
		return this.delegate.acquireAllAsync(request);
	}

	@Override
	public Lock lock(LockKey key) {
		return new TransactionAwareLock(this, this.delegate.lock(key), key, LockMode.EXCLUSIVE);
	}

	@Override
	public ReadWriteLock readWriteLock(LockKey key) {
		ReadWriteLock both = this.delegate.readWriteLock(key);
		return new BothSides(new TransactionAwareLock(this, both.readLock(), key, LockMode.READ),
				new TransactionAwareLock(this, both.writeLock(), key, LockMode.WRITE));
	}

	@Override
	public void acquiringLate(LockRequest request, String reason, @Nullable String transaction) {
		this.delegate.acquiringLate(request, reason, transaction);
	}

	@Override
	public LockSettings settings() {
		return this.settings;
	}

	boolean defersRelease(AnyLockRequest<?> request) {
		this.reads.check(request, this.delegate);
		return this.reads.defersRelease(request, this.delegate);
	}

	/**
	 * A set with some other owners as well is held until the end of the transaction as a
	 * whole.
	 */
	private static boolean isOfThread(AnyLockRequest<?> request) {
		return LockSetRequest.requestsOf(request).stream().anyMatch((each) -> each.owner() == null);
	}

	private <L extends LeaseSet> L inTransaction(L lease, AnyLockRequest<L> request, boolean inTransaction) {
		if (!isOfThread(request)) {
			return lease;
		}
		boolean deferring = this.onActiveTransaction != OnActiveTransaction.RELEASE_ON_RETURN;
		LeaseScope scope = LeaseContext.watch(lease, expired(request), ScopeTerms.OF_THREAD);
		L leases = TransactionAwareLeaseSet.of(lease, scope, inTransaction, deferring);
		try {
			if (inTransaction) {
				TransactionBoundary.acquired();
			}
			return leases;
		}
		catch (RuntimeException ex) {
			leases.closeAsync();
			throw ex;
		}
	}

	/**
	 * Return whether all leases of a request that was just granted have expired, or
	 * {@code null} if one of them is renewed.
	 */
	private @Nullable BooleanSupplier expired(AnyLockRequest<?> request) {
		Duration leaseTime = leaseTime(request);
		if (leaseTime == null) {
			return null;
		}
		long expiry = this.nanoTime.getAsLong() + leaseTime.toNanos();
		return () -> expiry - this.nanoTime.getAsLong() <= 0;
	}

	private static @Nullable Duration leaseTime(AnyLockRequest<?> request) {
		Duration longest = Duration.ZERO;
		for (LockRequest each : LockSetRequest.requestsOf(request)) {
			Duration leaseTime = each.leaseTime();
			if (leaseTime == null) {
				return null;
			}
			longest = (leaseTime.compareTo(longest) > 0) ? leaseTime : longest;
		}
		return longest;
	}

	/**
	 * Acquire a nested lease of a lock that the current thread has locked.
	 */
	void pushLocked(LockRequest nested, boolean inTransaction) {
		Lease lease = inTransaction(this.delegate.acquire(nested), nested, inTransaction);
		Map<LockRequest, Deque<Lease>> locked = this.locked.get();
		if (locked == null) {
			locked = new HashMap<>(2);
			this.locked.set(locked);
		}
		locked.computeIfAbsent(nested, (request) -> new ArrayDeque<>(1)).push(lease);
	}

	/**
	 * Remove and return the last such lease.
	 */
	@Nullable Lease popLocked(LockRequest nested) {
		Map<LockRequest, Deque<Lease>> locked = this.locked.get();
		Deque<Lease> leases = (locked != null) ? locked.get(nested) : null;
		if (locked == null || leases == null) {
			return null;
		}
		Lease last = leases.pop();
		if (leases.isEmpty() && locked.remove(nested) != null && locked.isEmpty()) {
			this.locked.remove();
		}
		return last;
	}

	private record BothSides(Lock readLock, Lock writeLock) implements ReadWriteLock {
	}

}
