// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A lease that a thread has acquired from a registry. If its owner closes it inside a
 * transaction, the lock is released when the transaction is completed.
 */
final class TransactionAwareLease implements Lease {

	private final Lease delegate;

	private final LeaseContext.Scope scope;

	private final boolean deferring;

	private volatile boolean closed;

	/** Guarded by this. */
	private boolean inTransaction;

	/**
	 * Create the lease on the thread that has acquired it.
	 * @param scope the scope in which the thread runs under the lease
	 * @param inTransaction whether the lock is held until the end of the current
	 * transaction
	 * @param deferring whether the lock is held until the end of a transaction inside
	 * which the lease is closed
	 */
	TransactionAwareLease(Lease delegate, LeaseContext.Scope scope, boolean inTransaction, boolean deferring) {
		this.delegate = delegate;
		this.scope = scope;
		this.deferring = deferring;
		if (inTransaction) {
			awaitCompletion();
		}
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
	public LockKey key() {
		return this.delegate.key();
	}

	@Override
	public List<Lease> all() {
		List<Lease> all = this.delegate.all();
		return (all.size() == 1) ? List.of(this) : all;
	}

	@Override
	public long fencingToken() {
		return this.delegate.fencingToken();
	}

	@Override
	public boolean isHeld() {
		return !this.closed && this.delegate.isHeld();
	}

	@Override
	public void ensureHeld() {
		if (this.closed) {
			throw new IllegalStateException("The lease is closed, and given back after the transaction");
		}
		this.delegate.ensureHeld();
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
	 * Close the lease for its owner.
	 * @return whether the lock has to be released now
	 * @throws LockLostException if the lock was lost, and is released later
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

}
