// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.LockException;

/**
 * The fallback of a method: a method of the same class or a superclass, with the same
 * parameters and a matching return type. It may have one more parameter, which receives
 * the reason.
 *
 * @param method the method to call
 * @param takesReason whether its last parameter receives the reason
 */
record FallbackMethod(Method method, boolean takesReason) {

	/**
	 * Find a fallback. A fallback that receives the reason is preferred; among several,
	 * the one with the most specific type.
	 * @param reasons all exceptions that lead to the fallback
	 * @throws IllegalArgumentException if no method matches
	 */
	static FallbackMethod find(String name, Method method, Class<?> targetClass,
			List<Class<? extends LockException>> reasons) {
		List<Method> candidates = Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(targetClass))
			.filter((candidate) -> candidate.getName().equals(name) && !candidate.isBridge())
			.toList();
		if (candidates.isEmpty()) {
			throw new IllegalArgumentException("'" + targetClass.getName() + "' has no method '" + name + "'");
		}
		List<Method> matching = candidates.stream()
			.filter((candidate) -> matches(candidate, method, targetClass))
			.toList();
		if (matching.isEmpty()) {
			throw new IllegalArgumentException("'" + InvalidLockDefinitionException.label(candidates.get(0))
					+ "' returning " + candidates.get(0).getReturnType().getSimpleName()
					+ " does not have the same parameters and return type");
		}
		List<Method> takingReason = matching.stream()
			.filter((candidate) -> candidate.getParameterCount() > method.getParameterCount())
			.toList();
		Method fallback = takingReason.isEmpty() ? matching.get(0) : nearest(takingReason, targetClass, reasons);
		ReflectionUtils.makeAccessible(fallback);
		return new FallbackMethod(fallback, !takingReason.isEmpty());
	}

	/**
	 * Call the fallback with the arguments of a call of its method.
	 * @param reason why the lock could not be acquired
	 */
	@Nullable Object invoke(MethodInvocation invocation, LockException reason) throws Throwable {
		@Nullable Object[] arguments = Arrays.copyOf(invocation.getArguments(), this.method.getParameterCount());
		if (this.takesReason) {
			arguments[arguments.length - 1] = reason;
		}
		return AopUtils.invokeJoinpointUsingReflection(invocation.getThis(), this.method, arguments);
	}

	private static boolean matches(Method candidate, Method method, Class<?> targetClass) {
		return !candidate.equals(method) && !Modifier.isAbstract(candidate.getModifiers())
				&& takesArguments(parameterTypes(candidate, targetClass), parameterTypes(method, targetClass))
				&& ClassUtils.isAssignable(returnType(method, targetClass), returnType(candidate, targetClass));
	}

	private static boolean takesArguments(Class<?>[] types, Class<?>[] arguments) {
		boolean takesReason = types.length == arguments.length + 1
				&& Throwable.class.isAssignableFrom(types[arguments.length]);
		return Arrays.equals(takesReason ? Arrays.copyOf(types, arguments.length) : types, arguments);
	}

	/**
	 * A type that accepts all reasons is a superclass of each, so one of two such types
	 * is more specific.
	 */
	private static Method nearest(List<Method> takingReason, Class<?> targetClass,
			List<Class<? extends LockException>> reasons) {
		return takingReason.stream()
			.filter((candidate) -> reasons.stream().allMatch(reasonType(candidate, targetClass)::isAssignableFrom))
			.reduce((one, other) -> reasonType(one, targetClass).isAssignableFrom(reasonType(other, targetClass))
					? other : one)
			.orElseThrow(
					() -> new IllegalArgumentException("'" + InvalidLockDefinitionException.label(takingReason.get(0))
							+ "' does not accept every exception that leads to it: "
							+ reasons.stream().map(Class::getSimpleName).collect(Collectors.joining(", "))
							+ "; declare its last parameter as LockException"));
	}

	private static Class<?> reasonType(Method takingReason, Class<?> targetClass) {
		return parameterTypes(takingReason, targetClass)[takingReason.getParameterCount() - 1];
	}

	private static Class<?>[] parameterTypes(Method method, Class<?> targetClass) {
		Class<?>[] types = new Class<?>[method.getParameterCount()];
		for (int i = 0; i < types.length; i++) {
			types[i] = ResolvableType.forMethodParameter(method, i, targetClass).resolve(Object.class);
		}
		return types;
	}

	private static Class<?> returnType(Method method, Class<?> targetClass) {
		return ResolvableType.forMethodReturnType(method, targetClass).resolve(Object.class);
	}

}
