// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockTemplate;

/**
 * Runs calls under their lock until their work is complete. There is one adapter for each
 * kind of return type; {@link ReturnTypes} chooses it.
 */
interface InvocationAdapter {

	/**
	 * Acquire the lock and proceed with the call.
	 * @param call the call
	 * @param locks the lock or locks, and the wait time
	 * @param template acquires and releases the lock
	 * @return the result, of the type that the method declares
	 */
	@Nullable Object invoke(LockOperation.Call call, LockOperation.Locks locks, LockTemplate template) throws Throwable;

	/**
	 * For methods that have completed their work when they return, and for {@code @Async}
	 * methods: an executor calls them on one of its threads, which waits for their future
	 * anyway.
	 */
	final class Blocking implements InvocationAdapter {

		private static final Log logger = LogFactory.getLog(InvocationAdapter.class);

		private final boolean awaitsFuture;

		private volatile boolean looksAtThread;

		/**
		 * Create an adapter.
		 * @param awaitsFuture whether the future that the method returns is part of its
		 * work
		 * @param reactorPresent whether there may be threads that must not block
		 */
		Blocking(boolean awaitsFuture, boolean reactorPresent) {
			this.awaitsFuture = awaitsFuture;
			this.looksAtThread = reactorPresent;
		}

		@Override
		public @Nullable Object invoke(LockOperation.Call call, LockOperation.Locks locks, LockTemplate template)
				throws Throwable {
			if (this.looksAtThread && ReactiveInvocationAdapter.mustNotBlock()) {
				this.looksAtThread = false;
				logger.warn("'" + InvalidLockDefinitionException.label(call.invocation().getMethod())
						+ "' waits for its lock on the thread '" + Thread.currentThread().getName()
						+ "', which must not block: everything else that runs on this thread waits as well. Let the"
						+ " method return a Mono, or call it on Schedulers.boundedElastic()");
			}
			return locks.execute(template, (lease) -> {
				Object result = call.proceed();
				if (this.awaitsFuture && result instanceof CompletableFuture<?> future) {
					await(future, lease);
				}
				return result;
			}, call::otherwise);
		}

		/**
		 * Wait for work on another thread, which does not end when this one is
		 * interrupted.
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

	/**
	 * For methods that return a {@link CompletableFuture}, which may be declared as a
	 * {@link CompletionStage}.
	 */
	final class Future implements InvocationAdapter {

		@Override
		public Object invoke(LockOperation.Call call, LockOperation.Locks locks, LockTemplate template) {
			LockOperation.Call later = call.copy();
			return locks.<@Nullable Object>executeAsync(template, (lease) -> stage(later.proceed()),
					(failure) -> stage(later.otherwise(failure)));
		}

		@SuppressWarnings("unchecked")
		private static CompletionStage<@Nullable Object> stage(@Nullable Object result) {
			if (result == null) {
				throw new NullPointerException("The method returned null instead of a future");
			}
			return (CompletionStage<@Nullable Object>) result;
		}

	}

}
