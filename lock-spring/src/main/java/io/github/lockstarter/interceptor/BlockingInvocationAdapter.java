// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;

/**
 * For methods whose work is done when they return.
 */
final class BlockingInvocationAdapter implements InvocationAdapter {

	@Override
	public @Nullable Object invoke(LockedCall call, LockRequest request, LockTemplate template) throws Throwable {
		return template.<@Nullable Object, Throwable>executeOrElse(request, call::proceed, call::contended,
				call::unavailable);
	}

}
