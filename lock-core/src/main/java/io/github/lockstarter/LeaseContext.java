// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The leases under which the current thread runs, innermost first: that of
 * {@link Lease#current()}, and all that have to be held when a transaction commits. The
 * public methods are for code that guards a transaction, such as {@code LockCommitGuard}.
 */
public final class LeaseContext {

	private static final ThreadLocal<@Nullable Scope> INNERMOST = new ThreadLocal<>();

	private LeaseContext() {
	}

	static Lease current() {
		LeaseSet current = currentSet();
		if (current instanceof Lease lease) {
			return lease;
		}
		throw new IllegalStateException("There is no single current lease, as the locks of this method or LockTemplate"
				+ " are acquired as a set; use LeaseSet.current()");
	}

	static LeaseSet currentSet() {
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
	public static void ensureAllHeld() {
		for (Scope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			if (!scope.ended && !(scope.lease instanceof LossTolerantLeaseSet)) {
				scope.lease.ensureHeld();
			}
		}
	}

	/**
	 * Do nothing unless this thread runs under a lease of the same lock that was lost.
	 * One that ends by itself may never have been closed, and its body be over.
	 * @throws LockLostException if it does
	 */
	static void ensureNotLost(AnyLockRequest<?> request) {
		List<LockRequest> requests = LockSetRequest.requestsOf(request);
		for (Scope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			if (!scope.ended && scope.expiry == null) {
				for (Lease lease : scope.lease.all()) {
					if (!lease.isHeld() && requests.stream().anyMatch((one) -> one.key().equals(lease.key()))) {
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

	static Scope enter(LeaseSet lease) {
		Scope scope = new Scope(lease, forgetEnded());
		INNERMOST.set(scope);
		return scope;
	}

	/**
	 * Enter a scope of which the lease is never the {@linkplain #current() current} one.
	 * @param leaseTime after which it ends by itself, or {@code null} if it does not
	 */
	static Scope watch(LeaseSet lease, @Nullable Duration leaseTime) {
		if (!TransactionBoundary.isAround()) {
			forgetExpired();
		}
		Scope scope = enter(lease);
		scope.leave();
		scope.expiry = (leaseTime != null) ? System.nanoTime() + leaseTime.toNanos() : null;
		return scope;
	}

	/**
	 * Forget the scopes whose lease time is over, as nobody may ever close their leases.
	 * They matter to a transaction that began before.
	 */
	public static void forgetExpired() {
		for (Scope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			scope.endIfExpired();
		}
		if (INNERMOST.get() != null) {
			forgetEnded();
		}
	}

	/**
	 * Return the number of scopes around the current work of this thread.
	 */
	static int size() {
		int size = 0;
		for (Scope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			size++;
		}
		return size;
	}

	/**
	 * Forget all scopes that have ended: not always the innermost first, and on this
	 * thread only if it is the one that ended them.
	 * @return the innermost one that is left
	 */
	private static @Nullable Scope forgetEnded() {
		Scope first = INNERMOST.get();
		Scope innermost = firstOpen(first);
		if (innermost != first) {
			// Never removed, as the next look at it would only create it anew
			INNERMOST.set(innermost);
		}
		for (Scope scope = innermost; scope != null; scope = scope.outer) {
			scope.outer = firstOpen(scope.outer);
		}
		return innermost;
	}

	private static @Nullable Scope firstOpen(@Nullable Scope innermost) {
		Scope scope = innermost;
		while (scope != null && scope.ended) {
			scope = scope.outer;
		}
		return scope;
	}

	/**
	 * The part of a thread's work that runs under a lease.
	 */
	static final class Scope implements AutoCloseable {

		private final LeaseSet lease;

		/** Used by the thread that entered this scope only. */
		private @Nullable Scope outer;

		/** Used by the thread that entered this scope only. */
		private @Nullable Long expiry;

		private volatile boolean left;

		private volatile boolean ended;

		private Scope(LeaseSet lease, @Nullable Scope outer) {
			this.lease = lease;
			this.outer = outer;
		}

		LeaseSet lease() {
			return this.lease;
		}

		private void endIfExpired() {
			if (this.expiry != null && this.expiry - System.nanoTime() <= 0 && !this.lease.isHeld()) {
				this.ended = true;
			}
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
