// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Code that runs instead of a {@link LockedBody} when somebody else held the lock for the
 * whole wait time. It runs without the lock.
 *
 * @param <T> the type of the result
 * @param <X> the type of exception that the code may throw
 */
@FunctionalInterface
public interface ContentionHandler<T extends @Nullable Object, X extends Throwable> {

	/**
	 * Run without the lock.
	 * @param contention what was asked for and how long it was waited for
	 * @return the result in place of the body's
	 * @throws X whatever the code throws
	 */
	T handle(LockContendedException contention) throws X;

}
