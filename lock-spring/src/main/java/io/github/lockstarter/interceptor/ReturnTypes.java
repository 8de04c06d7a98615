// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.UnfinishedWork;

/**
 * Decides from the return type of a method when its work is complete.
 */
final class ReturnTypes {

	private static final Map<Class<?>, Object> EMPTY = Map.of(Optional.class, Optional.empty(), OptionalInt.class,
			OptionalInt.empty(), OptionalLong.class, OptionalLong.empty(), OptionalDouble.class,
			OptionalDouble.empty());

	/** Types to which a {@link CompletableFuture} can be assigned. */
	private static final Set<Class<?>> FUTURES = Set.of(CompletableFuture.class, CompletionStage.class);

	private static final boolean REACTOR_PRESENT = ClassUtils.isPresent("reactor.core.publisher.Flux",
			ReturnTypes.class.getClassLoader());

	private ReturnTypes() {
	}

	/**
	 * Return the adapter that runs a method until its work is complete, or {@code null}
	 * if the work may begin or continue after the return and cannot be followed to its
	 * end.
	 */
	static @Nullable InvocationAdapter adapter(Method method, Class<?> targetClass) {
		ResolvableType returnType = ResolvableType.forMethodReturnType(method, targetClass);
		if (isSuspending(method) || isAnyDeferred(returnType.getGenerics())) {
			return null;
		}
		Class<?> type = returnType.resolve(Object.class);
		if (type == CompletableFuture.class && isAsync(method, targetClass)) {
			return new InvocationAdapter.Blocking(true, REACTOR_PRESENT);
		}
		if (FUTURES.contains(type)) {
			return new InvocationAdapter.Future();
		}
		ReactiveAdapter reactive = REACTOR_PRESENT ? ReactiveAdapterRegistry.getSharedInstance().getAdapter(type)
				: null;
		// An adapter for a supertype cannot create the type that the method returns
		if (reactive != null && reactive.getDescriptor().isDeferred()
				&& type.isAssignableFrom(reactive.getReactiveType())) {
			return new ReactiveInvocationAdapter(reactive);
		}
		return (isDeferred(returnType) || isFunction(type)) ? null
				: new InvocationAdapter.Blocking(false, REACTOR_PRESENT);
	}

	/**
	 * Return the result of a skipped call.
	 */
	static @Nullable Object empty(Method method, Class<?> targetClass) {
		ResolvableType returnType = ResolvableType.forMethodReturnType(method, targetClass);
		Class<?> type = returnType.resolve(Object.class);
		return FUTURES.contains(type)
				? CompletableFuture.completedFuture(EMPTY.get(returnType.getGeneric().resolve(Object.class)))
				: EMPTY.get(type);
	}

	/** A response entity or an {@code Optional} may contain work that continues. */
	private static boolean isDeferred(ResolvableType returnType) {
		return UnfinishedWork.isBehind(returnType.resolve(Object.class)) || isAnyDeferred(returnType.getGenerics());
	}

	private static boolean isAnyDeferred(ResolvableType[] types) {
		return Arrays.stream(types).anyMatch(ReturnTypes::isDeferred);
	}

	/** A class that implements such an interface by chance is a result like others. */
	private static boolean isFunction(Class<?> type) {
		return type.isAnnotationPresent(FunctionalInterface.class)
				|| type.getName().startsWith("kotlin.jvm.functions.");
	}

	private static boolean isAsync(Method method, Class<?> targetClass) {
		return AnnotatedElementUtils.hasAnnotation(method, Async.class)
				|| AnnotatedElementUtils.hasAnnotation(targetClass, Async.class);
	}

	/**
	 * Return whether a method is a suspend function of Kotlin.
	 */
	static boolean isSuspending(Method method) {
		Class<?>[] parameters = method.getParameterTypes();
		return parameters.length > 0
				&& parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation");
	}

}
