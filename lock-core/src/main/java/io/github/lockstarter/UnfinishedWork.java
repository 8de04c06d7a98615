// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * Results behind which work begins or continues after their body has returned, such as a
 * stream or a future: it would run without the lock.
 */
public final class UnfinishedWork {

	/** By name, because most of these types are optional. */
	private static final Set<String> TYPES = Set.of("java.util.Iterator", "java.util.concurrent.CompletionStage",
			"java.util.concurrent.Flow$Publisher", "java.util.concurrent.Future", "java.util.stream.BaseStream",
			"org.reactivestreams.Publisher", "io.reactivex.rxjava3.core.CompletableSource",
			"io.reactivex.rxjava3.core.MaybeSource", "io.reactivex.rxjava3.core.ObservableSource",
			"io.reactivex.rxjava3.core.SingleSource", "io.smallrye.mutiny.Uni", "kotlin.Lazy",
			"kotlin.sequences.Sequence", "kotlinx.coroutines.Job", "kotlinx.coroutines.flow.Flow",
			"org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

	private static final ClassValue<Boolean> BEHIND = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return TYPES.contains(type.getName()) || (type.getSuperclass() != null && get(type.getSuperclass()))
					|| Arrays.stream(type.getInterfaces()).anyMatch(this::get);
		}

	};

	private UnfinishedWork() {
	}

	/**
	 * Return whether there may be unfinished work behind a result of a type.
	 */
	public static boolean isBehind(Class<?> type) {
		return BEHIND.get(type);
	}

	/**
	 * Return the result of a body unless there is unfinished work behind it, or behind
	 * the value of an {@code Optional}.
	 */
	static <T extends @Nullable Object> T ensureNoneBehind(T result, LeaseSet leases) {
		Object value = (result instanceof Optional<?> optional) ? optional.orElse(null) : result;
		if (value != null && isBehind(value.getClass()) && !isDone(value)) {
			throw new IllegalStateException("The body under the lock "
					+ leases.all().stream().map((lease) -> "'" + lease.key() + "'").collect(Collectors.joining(", "))
					+ " has returned a " + value.getClass().getName()
					+ ", behind which work begins or continues without the lock. Return what that work results in; or"
					+ " let executeAsync run the body, which holds the lock until a future is done; or declare a"
					+ " CompletableFuture, or a Mono or Flux, as the return type of the annotated method");
		}
		return result;
	}

	private static boolean isDone(Object result) {
		return (result instanceof CompletionStage<?> stage) ? stage.toCompletableFuture().isDone()
				: result instanceof Future<?> future && future.isDone();
	}

}
