// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.AnyLockRequest;
import io.github.lockstarter.ContentionHandler;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.LeaseSet;
import io.github.lockstarter.LockedBody;
import io.github.lockstarter.OutageHandler;

/**
 * For methods that return a future.
 */
final class FutureInvocationAdapter implements InvocationAdapter {

	/** Return types to which a {@link CompletableFuture} can be assigned. */
	private static final Set<Class<?>> TYPES = Set.of(CompletableFuture.class, CompletionStage.class);

	static boolean supports(Class<?> type) {
		return TYPES.contains(type);
	}

	@Override
	public Object invoke(LockedCall call, AnyLockRequest<?> request, LockTemplate template) {
		return execute(call.copy(), request, template);
	}

	private static <L extends LeaseSet> Object execute(LockedCall call, AnyLockRequest<L> request,
			LockTemplate template) {
		LockedBody<L, CompletionStage<@Nullable Object>, Throwable> body = (lease) -> stage(call.proceed(lease));
		ContentionHandler<CompletionStage<@Nullable Object>, Throwable> onContention = (contention) -> stage(
				call.contended(contention));
		OutageHandler<CompletionStage<@Nullable Object>, Throwable> onOutage = (outage) -> stage(
				call.unavailable(outage));
		return template.executeAsyncOrElse(request, body, onContention, onOutage);
	}

	@SuppressWarnings("unchecked")
	private static CompletionStage<@Nullable Object> stage(@Nullable Object result) {
		if (result instanceof CompletionStage<?> stage) {
			return (CompletionStage<@Nullable Object>) stage;
		}
		throw new NullPointerException("The method returned null instead of a future");
	}

}
