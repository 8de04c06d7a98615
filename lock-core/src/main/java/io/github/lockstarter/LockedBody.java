// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Code that runs while a lock is held.
 *
 * @param <T> the type of the result
 * @param <X> the type of exception that the code may throw
 */
@FunctionalInterface
public interface LockedBody<T extends @Nullable Object, X extends Throwable> {

	/**
	 * Run under the lock.
	 * @param lease the lease, closed by the caller
	 * @return the result
	 * @throws X whatever the code throws
	 */
	T run(Lease lease) throws X;

}
