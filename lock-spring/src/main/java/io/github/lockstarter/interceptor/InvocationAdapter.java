// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.LockTemplate;

/**
 * Runs a method under its lock until its work is complete. There is one adapter for each
 * kind of return type.
 */
interface InvocationAdapter {

	/**
	 * Acquire the lock and call the method.
	 * @param call the call, with its reaction if the lock cannot be acquired
	 * @param request the lock or locks, and the wait time
	 * @param template acquires and releases the lock
	 * @return the result, of the type that the method declares
	 */
	@Nullable Object invoke(LockedCall call, AnyLockRequest<?> request, LockTemplate template) throws Throwable;

}
