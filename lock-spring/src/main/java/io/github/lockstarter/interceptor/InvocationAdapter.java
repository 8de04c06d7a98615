// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.LockTemplate;

/**
 * Runs a method under its lock until its work is done. There is one adapter for each kind
 * of return type.
 */
interface InvocationAdapter {

	/**
	 * Acquire the lock and call the method.
	 * @param call the call, and what replaces it without the lock
	 * @param request which lock or locks, and how long to wait
	 * @param template acquires and releases the lock
	 * @return the result, of the type that the method declares
	 */
	@Nullable Object invoke(LockedCall call, AnyLockRequest<?> request, LockTemplate template) throws Throwable;

}
