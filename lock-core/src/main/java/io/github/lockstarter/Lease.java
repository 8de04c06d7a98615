// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.List;

/**
 * One grant of a lock, from its acquisition until {@link #close()}. No thread owns it:
 * any thread may query or close it. It is the {@link LeaseSet} of itself, so what is said
 * there of all leases is said of this one.
 */
public interface Lease extends LeaseSet {

	/**
	 * Return the lease of the innermost annotated method or {@link LockTemplate} that
	 * runs on this thread; for a body that returns a future or a publisher, until the
	 * body has returned. Where the work continues on other threads, or is a reactive
	 * chain, call this method before. A lease that was acquired from a
	 * {@link LockRegistry} is never the current one.
	 * @throws IllegalStateException if there is no such lease, or if the method or
	 * template holds several locks; see {@link LeaseSet#current()}
	 */
	static Lease current() {
		return LeaseContext.current();
	}

	/**
	 * Return the lock of this lease.
	 */
	LockKey key();

	/**
	 * Return this lease as the only one.
	 */
	@Override
	default List<Lease> all() {
		return List.of(this);
	}

	/**
	 * Return a number that is strictly larger for every later grant of the same lock,
	 * also after the store has lost its data. A resource that refuses writes with a
	 * smaller number than the largest it has seen is safe from owners whose lease has
	 * expired. Reentrant leases share the number of the outermost one. The numbers of
	 * different registries cannot be compared.
	 */
	long fencingToken();

	/**
	 * Return whether the lock is exclusive or shared.
	 */
	default LockMode mode() {
		return LockMode.EXCLUSIVE;
	}

}
