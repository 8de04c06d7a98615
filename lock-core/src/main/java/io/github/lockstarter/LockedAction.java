// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * Code without a result that runs under a lock or a set of locks.
 *
 * @param <L> the argument of the code: a {@link Lease} or a {@link LeaseSet}
 * @param <X> the type of exception that the code may throw
 */
@FunctionalInterface
public interface LockedAction<L extends LeaseSet, X extends Throwable> {

	/**
	 * Run under the lock.
	 * @param lease the lease, closed by the caller
	 * @throws X the exception of the code
	 */
	void run(L lease) throws X;

}
