// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * The leases under which the current thread runs, innermost first: that of
 * {@link Lease#current()}, and all that have to be held when a transaction commits.
 */
final class LeaseContext {

	private static final ThreadLocal<@Nullable Scope> INNERMOST = new ThreadLocal<>();

	private LeaseContext() {
	}

	static Lease current() {
		for (Scope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			if (!scope.left) {
				return scope.lease;
			}
		}
		throw new IllegalStateException("There is no current lease: this thread is neither inside a method"
				+ " annotated with @DistributedLock nor inside a LockTemplate");
	}

	/**
	 * Do nothing if all leases of this thread whose loss matters are held.
	 * @throws LockLostException if one was lost
	 */
	static void ensureAllHeld() {
		for (Scope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			if (!scope.ended && !(scope.lease instanceof LossTolerantLease)) {
				scope.lease.ensureHeld();
			}
		}
	}

	/**
	 * Do nothing unless this thread runs under a lease of the same lock that was lost.
	 * @throws LockLostException if it does
	 */
	static void ensureNotLost(LockRequest request) {
		for (Scope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			if (!scope.ended) {
				for (Lease lease : scope.lease.all()) {
					if (!lease.isHeld() && request.all().stream().anyMatch((one) -> one.key().equals(lease.key()))) {
						tellOfLoss(lease);
					}
				}
			}
		}
	}

	private static void tellOfLoss(Lease lease) {
		try {
			lease.ensureHeld();
		}
		catch (IllegalStateException ex) {
			// Its body has closed it before its end
		}
	}

	static Scope enter(Lease lease) {
		forgetEnded();
		Scope scope = new Scope(lease, INNERMOST.get());
		INNERMOST.set(scope);
		return scope;
	}

	/** A transaction may end its scopes in another order, or on another thread. */
	private static void forgetEnded() {
		Scope scope = INNERMOST.get();
		while (scope != null && scope.ended) {
			scope = scope.outer;
		}
		if (scope != null) {
			INNERMOST.set(scope);
		}
		else {
			INNERMOST.remove();
		}
	}

	/**
	 * The part of a thread's work that runs under a lease.
	 */
	static final class Scope implements AutoCloseable {

		private final Lease lease;

		private final @Nullable Scope outer;

		private volatile boolean left;

		private volatile boolean ended;

		private Scope(Lease lease, @Nullable Scope outer) {
			this.lease = lease;
			this.outer = outer;
		}

		Lease lease() {
			return this.lease;
		}

		/**
		 * Leave the body; the lease has to be held until the transaction is completed.
		 */
		void leave() {
			this.left = true;
		}

		/**
		 * End the scope: the lease may be closed.
		 */
		@Override
		public void close() {
			this.left = true;
			this.ended = true;
			forgetEnded();
		}

	}

}
