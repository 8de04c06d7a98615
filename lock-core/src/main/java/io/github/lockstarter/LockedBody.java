// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Code that runs under a lock or a set of locks.
 *
 * @param <L> the argument of the code: a {@link Lease} or a {@link LeaseSet}
 * @param <T> the type of the result
 * @param <X> the type of exception that the code may throw
 */
@FunctionalInterface
public interface LockedBody<L extends LeaseSet, T extends @Nullable Object, X extends Throwable> {

	/**
	 * Run under the lock.
	 * @param lease the lease, closed by the caller
	 * @return the result
	 * @throws X the exception of the code
	 */
	T run(L lease) throws X;

}
