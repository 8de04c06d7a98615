// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;

/**
 * Runs a method under its lock until its work is done, which the return type of the
 * method decides.
 */
interface InvocationAdapter {

	/**
	 * Call the method when its lock is there.
	 * @param call the call of the method, and what to call instead without the lock
	 * @param request which lock, and how long to wait for it
	 * @param template acquires and releases the lock
	 * @return what the method is declared to return
	 */
	@Nullable Object invoke(LockedCall call, LockRequest request, LockTemplate template) throws Throwable;

}
