// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Code that runs in place of a {@link LockedBody} if the store could not be asked for the
 * lock. It runs without the lock, which another owner may hold.
 *
 * @param <T> the type of the result
 * @param <X> the type of exception that the code may throw
 */
@FunctionalInterface
public interface OutageHandler<T extends @Nullable Object, X extends Throwable> {

	/**
	 * Run without the lock.
	 * @param outage names the lock and the reason
	 * @return the result, in place of the body's
	 * @throws X the exception of the code
	 */
	T handle(LockUnavailableException outage) throws X;

}
