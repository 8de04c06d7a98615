// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The leases under which the current thread runs, innermost first. They determine
 * {@link Lease#current()}, and which leases must be held when a transaction commits. The
 * public methods are for guards of transactions, such as {@code LockCommitGuard}.
 */
public final class LeaseContext {

	private static final ThreadLocal<@Nullable LeaseScope> INNERMOST = new ThreadLocal<>();

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
		for (LeaseScope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			if (!scope.left) {
				return scope.lease;
			}
		}
		throw new IllegalStateException("There is no current lease: this thread is neither inside a method"
				+ " annotated with @DistributedLock nor inside a LockTemplate");
	}

	/**
	 * Check that all leases of this thread are held, except those whose loss is only
	 * logged.
	 * @throws LockLostException if a lock was lost
	 */
	public static void ensureAllHeld() {
		for (LeaseScope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			if (!scope.ended && scope.lossMatters()) {
				scope.lease.ensureHeld();
			}
		}
	}

	/**
	 * Check that this thread does not run under a lost lease of the same lock. Leases
	 * with a fixed lease time are ignored, because they need not be closed and their body
	 * may have ended.
	 * @throws LockLostException if this thread runs under a lost lease
	 */
	static void ensureNotLost(AnyLockRequest<?> request) {
		List<LockRequest> requests = LockSetRequest.requestsOf(request);
		for (LeaseScope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			if (!scope.ended && scope.expired == null) {
				for (Lease lease : scope.lease.all()) {
					if (!lease.isHeld() && requests.stream().anyMatch((one) -> one.key().equals(lease.key()))) {
						tellOfLoss(lease);
					}
				}
			}
		}
	}

	/**
	 * Return whether this thread already runs under all the locks of a request.
	 */
	static boolean isReentrant(AnyLockRequest<?> request) {
		return LockSetRequest.requestsOf(request).stream().allMatch((one) -> isHeld(one.key()));
	}

	private static boolean isHeld(LockKey key) {
		for (LeaseScope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			if (!scope.ended
					&& scope.lease.all().stream().anyMatch((lease) -> lease.key().equals(key) && lease.isHeld())) {
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
	 * Return the leases of this thread whose fencing tokens a transaction claims, without
	 * repetition, in an order that is the same in all JVMs.
	 * @param byDefault whether transactions claim the token of a lease where nothing is
	 * said
	 */
	public static List<Lease> fenced(Predicate<Lease> byDefault) {
		if (INNERMOST.get() == null) {
			return List.of();
		}
		Map<String, Lease> byLock = new TreeMap<>();
		for (LeaseScope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			if (!scope.ended) {
				for (Lease lease : scope.lease.all()) {
					if (scope.terms.isFenced(byDefault.test(lease))) {
						byLock.merge(lease.store() + '/' + lease.key().text(), lease, LeaseContext::stronger);
					}
				}
			}
		}
		return List.copyOf(byLock.values());
	}

	/** The claim of a writer is enough for the same thread as a reader. */
	private static Lease stronger(Lease one, Lease other) {
		return Comparator.<Lease, Boolean>comparing((lease) -> lease.mode() != LockMode.READ)
			.thenComparing(Lease::fencingToken)
			.compare(one, other) >= 0 ? one : other;
	}

	/**
	 * Enter a scope.
	 */
	static LeaseScope enter(LeaseSet lease, ScopeTerms terms) {
		LeaseScope scope = new LeaseScope(lease, terms, forgetEnded());
		INNERMOST.set(scope);
		return scope;
	}

	/**
	 * Enter a scope whose lease is never the {@linkplain #current() current} one.
	 * @param expired whether the time of a fixed lease is over, or {@code null} if the
	 * lease is renewed
	 */
	static LeaseScope watch(LeaseSet lease, @Nullable BooleanSupplier expired, ScopeTerms terms) {
		if (!TransactionBoundary.isAround()) {
			forgetExpired();
		}
		LeaseScope scope = enter(lease, terms);
		scope.leave();
		scope.expired = expired;
		return scope;
	}

	/**
	 * Forget the scopes whose lease has expired, because it may never be closed. Until
	 * then the scopes matter to transactions that began before.
	 */
	public static void forgetExpired() {
		for (LeaseScope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			scope.endIfExpired();
		}
		if (INNERMOST.get() != null) {
			forgetEnded();
		}
	}

	static int size() {
		int size = 0;
		for (LeaseScope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			size++;
		}
		return size;
	}

	/**
	 * Forget all scopes that have ended. LeaseScopes may end in any order, and on any
	 * thread.
	 * @return the innermost scope that is left
	 */
	static @Nullable LeaseScope forgetEnded() {
		LeaseScope first = INNERMOST.get();
		LeaseScope innermost = firstOpen(first);
		if (innermost != first) {
			// Not removed, because the next read would only create the entry again
			INNERMOST.set(innermost);
		}
		for (LeaseScope scope = innermost; scope != null; scope = scope.outer) {
			scope.outer = firstOpen(scope.outer);
		}
		return innermost;
	}

	private static @Nullable LeaseScope firstOpen(@Nullable LeaseScope innermost) {
		LeaseScope scope = innermost;
		while (scope != null && scope.ended) {
			scope = scope.outer;
		}
		return scope;
	}

}
