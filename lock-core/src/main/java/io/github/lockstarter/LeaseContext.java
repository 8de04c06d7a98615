// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The leases of the bodies that the current thread runs, innermost first.
 */
final class LeaseContext {

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
		Scope innermost = INNERMOST.get();
		if (innermost == null) {
			throw new IllegalStateException("There is no current lease: this thread is neither inside a method"
					+ " annotated with @DistributedLock nor inside a LockTemplate. Usual causes are a call of the annotated"
					+ " method within its own bean, which does not pass the proxy, and code that runs on another thread or"
					+ " later, to which the lease has to be passed");
		}
		return innermost.lease;
	}

	static List<LeaseSet> all() {
		Scope scope = INNERMOST.get();
		if (scope == null) {
			return List.of();
		}
		List<LeaseSet> leases = new ArrayList<>(2);
		for (; scope != null; scope = scope.outer) {
			leases.add(scope.lease);
		}
		return leases;
	}

	/**
	 * Check that this thread does not run a body under a lost lease of a lock.
	 * @param registry the registry of the lock: that of another one is a different lock
	 * @throws LockLostException if it does
	 */
	static void ensureNotLost(LockRegistry registry, LockKey key) {
		for (Scope scope = INNERMOST.get(); scope != null; scope = scope.outer) {
			for (Lease lease : scope.lease.all()) {
				if (!lease.isHeld() && lease.key().equals(key) && innermost(scope.registry) == innermost(registry)) {
					tellOfLoss(lease);
				}
			}
		}
	}

	private static LockRegistry innermost(LockRegistry registry) {
		LockRegistry delegate = registry.delegate();
		// A mock has none
		return (delegate == null || delegate == registry) ? registry : innermost(delegate);
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
	 * Enter a body on the current thread, which leaves it before any outer one.
	 */
	static Scope enter(LockRegistry registry, LeaseSet lease) {
		Scope scope = new Scope(registry, lease, INNERMOST.get());
		INNERMOST.set(scope);
		return scope;
	}

	/**
	 * The part of a thread's work that runs under a lease.
	 *
	 * @param registry the registry that has granted the lease
	 * @param lease the lease
	 * @param outer the enclosing part
	 */
	record Scope(LockRegistry registry, LeaseSet lease, @Nullable Scope outer) implements AutoCloseable {

		@Override
		public void close() {
			// Not removed, because the next read would only create the entry again
			INNERMOST.set(this.outer);
		}

	}

}
