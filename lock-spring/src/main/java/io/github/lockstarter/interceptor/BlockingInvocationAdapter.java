// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockTemplate;

/**
 * For methods that have completed their work when they return.
 */
final class BlockingInvocationAdapter implements InvocationAdapter {

	private static final Log logger = LogFactory.getLog(BlockingInvocationAdapter.class);

	private volatile boolean looksAtThread;

	/**
	 * Create an adapter.
	 * @param reactorPresent whether there may be threads that must not block
	 */
	BlockingInvocationAdapter(boolean reactorPresent) {
		this.looksAtThread = reactorPresent;
	}

	@Override
	public @Nullable Object invoke(LockedCall call, AnyLockRequest<?> request, LockTemplate template) throws Throwable {
		if (this.looksAtThread && ReactiveInvocationAdapter.mustNotBlock()) {
			this.looksAtThread = false;
			logger.warn("'" + MethodLabel.of(call.invocation().getMethod()) + "' waits for its lock on the thread '"
					+ Thread.currentThread().getName() + "', which must not block: everything else that runs on this"
					+ " thread waits as well. Let the method return a Mono, or call it on Schedulers.boundedElastic()");
		}
		return execute(call, request, template);
	}

	private static <L extends LeaseSet> @Nullable Object execute(LockedCall call, AnyLockRequest<L> request,
			LockTemplate template) throws Throwable {
		return template.<L, @Nullable Object, Throwable>executeOrElse(request, call::proceed, call::contended,
				call::unavailable);
	}

}
