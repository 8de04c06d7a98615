// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Code that runs instead of a {@link LockedBody} when the lock could not be asked for. It
 * runs without the lock, and somebody else may hold it.
 *
 * @param <T> the type of the result
 * @param <X> the type of exception that the code may throw
 */
@FunctionalInterface
public interface OutageHandler<T extends @Nullable Object, X extends Throwable> {

	/**
	 * Run without the lock.
	 * @param outage what was asked for and why there was no answer
	 * @return the result in place of the body's
	 * @throws X whatever the code throws
	 */
	T handle(LockUnavailableException outage) throws X;

}
