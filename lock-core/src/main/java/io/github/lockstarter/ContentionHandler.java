// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Code that runs in place of a {@link LockedBody} if another owner held the lock for the
 * whole wait time. It runs without the lock.
 *
 * @param <T> the type of the result
 * @param <X> the type of exception that the code may throw
 */
@FunctionalInterface
public interface ContentionHandler<T extends @Nullable Object, X extends Throwable> {

	/**
	 * Run without the lock.
	 * @param contention names the lock and the time spent waiting
	 * @return the result, in place of the body's
	 * @throws X the exception of the code
	 */
	T handle(LockContendedException contention) throws X;

}
