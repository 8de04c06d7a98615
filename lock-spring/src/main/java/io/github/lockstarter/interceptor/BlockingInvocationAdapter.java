// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockTemplate;

/**
 * For methods that have completed their work when they return.
 */
final class BlockingInvocationAdapter implements InvocationAdapter {

	@Override
	public @Nullable Object invoke(LockedCall call, AnyLockRequest<?> request, LockTemplate template) throws Throwable {
		return execute(call, request, template);
	}

	private static <L extends LeaseSet> @Nullable Object execute(LockedCall call, AnyLockRequest<L> request,
			LockTemplate template) throws Throwable {
		return template.<L, @Nullable Object, Throwable>executeOrElse(request, call::proceed, call::contended,
				call::unavailable);
	}

}
