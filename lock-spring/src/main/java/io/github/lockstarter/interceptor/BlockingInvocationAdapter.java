// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockTemplate;

/**
 * For methods that have completed their work when they return, and for {@code @Async}
 * methods: an executor has called them on one of its threads, which waits for their
 * future anyway.
 */
final class BlockingInvocationAdapter implements InvocationAdapter {

	private static final Log logger = LogFactory.getLog(BlockingInvocationAdapter.class);

	private final boolean awaitsFuture;

	private volatile boolean looksAtThread;

	/**
	 * Create an adapter.
	 * @param awaitsFuture whether a future that the method returns is part of its work
	 * @param reactorPresent whether there may be threads that must not block
	 */
	BlockingInvocationAdapter(boolean awaitsFuture, boolean reactorPresent) {
		this.awaitsFuture = awaitsFuture;
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

	private <L extends LeaseSet> @Nullable Object execute(LockedCall call, AnyLockRequest<L> request,
			LockTemplate template) throws Throwable {
		return template.<L, @Nullable Object, Throwable>executeOrElse(request, (lease) -> {
			Object result = call.proceed(lease);
			if (this.awaitsFuture && result instanceof CompletableFuture<?> future) {
				await(future, lease);
			}
			return result;
		}, call::contended, call::unavailable);
	}

	/**
	 * Wait for the end of work that an interrupt of this thread does not end.
	 */
	private static void await(CompletableFuture<?> future, LeaseSet lease) throws Throwable {
		boolean interrupted = false;
		try {
			while (true) {
				try {
					future.get();
					return;
				}
				catch (InterruptedException ex) {
					interrupted = true;
					if (!lease.isHeld()) {
						future.cancel(true);
					}
				}
			}
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() != null) ? ex.getCause() : ex;
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
