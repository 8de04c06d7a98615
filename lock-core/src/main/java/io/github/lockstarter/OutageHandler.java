// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Code that runs in place of a {@link LockedBody} if the store did not answer. It runs
 * without the lock, and another owner may hold it.
 *
 * @param <T> the type of the result
 * @param <X> the type of exception that the code may throw
 */
@FunctionalInterface
public interface OutageHandler<T extends @Nullable Object, X extends Throwable> {

	/**
	 * Run without the lock.
	 * @param outage names the lock and why there was no answer
	 * @return the result in place of that of the body
	 * @throws X an exception of the code
	 */
	T handle(LockUnavailableException outage) throws X;

}
