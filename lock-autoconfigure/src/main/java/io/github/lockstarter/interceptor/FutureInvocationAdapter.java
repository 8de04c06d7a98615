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
	private static CompletionStage<@Nullable Object> stage(@Nullable Object result) throws Throwable {
		if (result instanceof CompletionStage<?> stage) {
			return (CompletionStage<@Nullable Object>) stage;
		}
		if (result instanceof Future<?> future) {
			return CompletableFuture.completedFuture(await(future));
		}
		throw new NullPointerException("The method returned null instead of a future");
	}

	/** A future that tells nobody of its end has to be waited for. */
	private static @Nullable Object await(Future<?> future) throws Throwable {
		try {
			return future.get();
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() != null) ? ex.getCause() : ex;
		}
		catch (InterruptedException ex) {
			future.cancel(true);
			throw ex;
		}
	}

}
