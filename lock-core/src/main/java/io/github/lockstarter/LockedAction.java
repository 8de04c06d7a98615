// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * Code without a result that runs while a lock, or several locks, are held.
 *
 * @param <L> what the code is given: a {@link Lease} or a {@link LeaseSet}
 * @param <X> the type of exception that the code may throw
 */
@FunctionalInterface
public interface LockedAction<L extends LeaseSet, X extends Throwable> {

	/**
	 * Run under the lock.
	 * @param lease the lease, closed by the caller
	 * @throws X whatever the code throws
	 */
	void run(L lease) throws X;

}
