// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Leases that a thread has acquired from a registry. Leases that the thread closes inside
 * a transaction can no longer be used, and are released when the transaction is
 * completed.
 */
class TransactionAwareLeaseSet implements LeaseSet {

	private final LeaseSet delegate;

	private final LeaseScope scope;

	private final boolean deferring;

	private volatile boolean closed;

	/** Guarded by this. */
	private boolean inTransaction;

	/**
	 * Create the leases on the thread that has acquired them.
	 * @param scope the scope in which the thread runs under the leases
	 * @param inTransaction whether they are held until the end of the current transaction
	 * @param deferring whether they are held until the end of a transaction inside which
	 * they are closed
	 */
	TransactionAwareLeaseSet(LeaseSet delegate, LeaseScope scope, boolean inTransaction, boolean deferring) {
		this.delegate = delegate;
		this.scope = scope;
		this.deferring = deferring;
		if (inTransaction) {
			awaitCompletion();
		}
	}

	/**
	 * Return leases that take part in transactions.
	 * @param <L> a {@link Lease} or a {@link LeaseSet}
	 */
	@SuppressWarnings("unchecked")
	static <L extends LeaseSet> L of(L delegate, LeaseScope scope, boolean inTransaction, boolean deferring) {
		return (L) ((delegate instanceof Lease lease)
				? new TransactionAwareLease(lease, scope, inTransaction, deferring)
				: new TransactionAwareLeaseSet(delegate, scope, inTransaction, deferring));
	}

	private synchronized void awaitCompletion() {
		this.inTransaction = true;
		TransactionBoundary.whenCompleted(this::completed);
	}

	private void completed(LockBoundary.Outcome outcome) {
		synchronized (this) {
			this.inTransaction = false;
			if (!this.closed) {
				return;
			}
		}
		TransactionBoundary.end(this.scope, outcome);
	}

	@Override
	public List<Lease> all() {
		return this.delegate.all();
	}

	@Override
	public boolean isHeld() {
		return !this.closed && this.delegate.isHeld();
	}

	@Override
	public void ensureHeld() {
		if (this.closed) {
			throw new IllegalStateException(isAwaitingCompletion()
					? "The lease is closed, and released after the transaction" : "The lease is closed");
		}
		this.delegate.ensureHeld();
	}

	private synchronized boolean isAwaitingCompletion() {
		return this.inTransaction;
	}

	@Override
	public Duration remaining() {
		return this.closed ? Duration.ZERO : this.delegate.remaining();
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
		synchronized (this) {
			if (this.closed) {
				return false;
			}
			if (!this.inTransaction && this.deferring && TransactionBoundary.isActive()) {
				awaitCompletion();
			}
			this.closed = true;
			if (!this.inTransaction) {
				this.scope.close();
				return true;
			}
		}
		if (!this.delegate.isHeld()) {
			this.delegate.ensureHeld();
		}
		return false;
	}

	@Override
	public String toString() {
		return this.delegate + ((this.closed && isAwaitingCompletion()) ? " until the transaction ends" : "");
	}

}
