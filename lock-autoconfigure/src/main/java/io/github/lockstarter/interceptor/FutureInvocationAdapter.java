// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * For methods that return a future.
 */
final class FutureInvocationAdapter implements InvocationAdapter {

	/** Types that a {@link CompletableFuture} can be returned as. */
	private static final Set<Class<?>> TYPES = Set.of(CompletableFuture.class, CompletionStage.class, Future.class);

	static boolean supports(Class<?> type) {
		return TYPES.contains(type);
	}

	@Override
	public Object invoke(LockedCall call) {
		return call.template()
			.executeAsyncOrElse(call.request(), (lease) -> stage(call.proceed(lease)),
					(contention) -> stage(call.contended(contention)), (outage) -> stage(call.unavailable(outage)));
	}

	@SuppressWarnings("unchecked")
	private static CompletionStage<@Nullable Object> stage(@Nullable Object result) {
		if (result instanceof CompletionStage<?> stage) {
			return (CompletionStage<@Nullable Object>) stage;
		}
		if (result instanceof Future<?> future) {
			return FollowedFuture.of(future);
		}
		throw new NullPointerException("The method returned null instead of a future");
	}

	/** A future that tells nobody of its end has to be waited for. */
	private static final class FollowedFuture extends CompletableFuture<@Nullable Object> {

		private final Future<?> future;

		private FollowedFuture(Future<?> future) {
			this.future = future;
		}

		static FollowedFuture of(Future<?> future) {
			FollowedFuture followed = new FollowedFuture(future);
			Thread thread = new Thread(followed::await, "lock-future");
			thread.setDaemon(true);
			thread.start();
			return followed;
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			this.future.cancel(mayInterruptIfRunning);
			return super.cancel(mayInterruptIfRunning);
		}

		private void await() {
			try {
				complete(this.future.get());
			}
			catch (ExecutionException ex) {
				completeExceptionally((ex.getCause() != null) ? ex.getCause() : ex);
			}
			catch (InterruptedException | RuntimeException ex) {
				completeExceptionally(ex);
			}
		}

	}

}
