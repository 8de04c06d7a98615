// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Code that runs in place of a {@link LockedBody} if the lock could not be acquired:
 * another owner held it for the whole wait time ({@link LockContendedException}), or the
 * store could not be asked ({@link LockUnavailableException}). It runs without the lock,
 * which another owner may hold.
 *
 * @param <T> the type of the result
 * @param <X> the type of exception that the code may throw
 */
@FunctionalInterface
public interface LockFailureHandler<T extends @Nullable Object, X extends Throwable> {

	/**
	 * Run without the lock.
	 * @param failure names the lock and the reason
	 * @return the result, in place of the body's
	 * @throws X the exception of the code
	 */
	T handle(LockException failure) throws X;

}
