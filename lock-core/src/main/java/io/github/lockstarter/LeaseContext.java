// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The leases under which the current thread runs, innermost first. They determine
 * {@link Lease#current()}, and which leases must be held when a transaction commits. The
 * public methods are for guards of transactions, such as {@code LockCommitGuard}, and for
 * advice that acquires locks.
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
	 * Check that all leases of this thread are held at the commit of a transaction,
	 * except those whose loss is only logged. They are checked in their
	 * {@linkplain Lease#commitOrder() order at a commit}.
	 * @throws LockLostException if a lock was lost
	 * @see LeaseSet#ensureHeldAtCommit()
	 */
	public static void ensureAllHeldAtCommit() {
		List<Lease> leases = new ArrayList<>();
		for (Scope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			if (!scope.ended && scope.lossMatters) {
				scope.lease.ensureHeld();
				leases.addAll(scope.lease.all());
			}
		}
		leases.sort(Comparator.comparing(Lease::commitOrder));
		leases.forEach(Lease::ensureHeldAtCommit);
	}

	/**
	 * Check that this thread does not run under a lost lease of the same lock. Leases
	 * with a fixed lease time are ignored, because they need not be closed and their body
	 * may have ended.
	 * @throws LockLostException if this thread runs under a lost lease
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

	/**
	 * Return whether this thread was already running under all these locks before it
	 * acquired these leases.
	 * @param leases the leases under which the thread runs now
	 */
	public static boolean isReentrant(LeaseSet leases) {
		return leases.all().stream().allMatch((lease) -> isHeldBeside(leases, lease.key()));
	}

	private static boolean isHeldBeside(LeaseSet leases, LockKey key) {
		for (Scope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			if (!scope.ended && scope.lease != leases
					&& scope.lease.all().stream().anyMatch((lease) -> lease.key().equals(key))) {
				return true;
			}
		}
		return false;
	}

	private static void tellOfLoss(Lease lease) {
		try {
			lease.ensureHeld();
		}
		catch (IllegalStateException ex) {
			// The body has closed its own lease
		}
	}

	/**
	 * Enter a scope.
	 * @param lossMatters whether a transaction must not commit after the loss of the
	 * lease
	 */
	static Scope enter(LeaseSet lease, boolean lossMatters) {
		Scope scope = new Scope(lease, lossMatters, forgetEnded());
		INNERMOST.set(scope);
		return scope;
	}

	/**
	 * Enter a scope whose lease is never the {@linkplain #current() current} one.
	 * @param leaseTime the time after which the lease expires, or {@code null} if it is
	 * renewed
	 */
	static Scope watch(LeaseSet lease, @Nullable Duration leaseTime, boolean lossMatters) {
		if (!TransactionBoundary.isAround()) {
			forgetExpired();
		}
		Scope scope = enter(lease, lossMatters);
		scope.leave();
		scope.expiry = (leaseTime != null) ? System.nanoTime() + leaseTime.toNanos() : null;
		return scope;
	}

	/**
	 * Forget the scopes whose lease has expired, because it may never be closed. Until
	 * then the scopes matter to transactions that began before.
	 */
	public static void forgetExpired() {
		for (Scope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			scope.endIfExpired();
		}
		if (INNERMOST.get() != null) {
			forgetEnded();
		}
	}

	static int size() {
		int size = 0;
		for (Scope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			size++;
		}
		return size;
	}

	/**
	 * Forget all scopes that have ended. Scopes may end in any order, and on any thread.
	 * @return the innermost scope that is left
	 */
	private static @Nullable Scope forgetEnded() {
		Scope first = INNERMOST.get();
		Scope innermost = firstOpen(first);
		if (innermost != first) {
			// Not removed, because the next read would only create the entry again
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

		private final boolean lossMatters;

		/** Used by the thread that entered this scope only. */
		private @Nullable Scope outer;

		/** Used by the thread that entered this scope only. */
		private @Nullable Long expiry;

		private volatile boolean left;

		private volatile boolean ended;

		private Scope(LeaseSet lease, boolean lossMatters, @Nullable Scope outer) {
			this.lease = lease;
			this.lossMatters = lossMatters;
			this.outer = outer;
		}

		LeaseSet lease() {
			return this.lease;
		}

		boolean lossMatters() {
			return this.lossMatters;
		}

		private void endIfExpired() {
			if (this.expiry != null && this.expiry - System.nanoTime() <= 0 && !this.lease.isHeld()) {
				this.ended = true;
			}
		}

		/**
		 * Leave the body; the lease must be held until the transaction is completed.
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
