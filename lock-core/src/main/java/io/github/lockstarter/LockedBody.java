// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Code that runs while a lock, or several locks, are held.
 *
 * @param <L> what the code is given: a {@link Lease} or a {@link LeaseSet}
 * @param <T> the type of the result
 * @param <X> the type of exception that the code may throw
 */
@FunctionalInterface
public interface LockedBody<L extends LeaseSet, T extends @Nullable Object, X extends Throwable> {

	/**
	 * Run under the lock.
	 * @param lease the lease, closed by the caller
	 * @return the result
	 * @throws X whatever the code throws
	 */
	T run(L lease) throws X;

}
