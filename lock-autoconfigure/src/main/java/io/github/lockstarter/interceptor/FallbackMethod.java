// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;

import org.springframework.core.ResolvableType;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the fallback of a method: of the same class or a superclass, with the same
 * parameters and a matching return type.
 */
final class FallbackMethod {

	private FallbackMethod() {
	}

	/**
	 * Find a fallback.
	 * @throws IllegalArgumentException if there is none that matches
	 */
	static Method find(String name, Method method, Class<?> targetClass) {
		List<Method> candidates = Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(targetClass))
			.filter((candidate) -> candidate.getName().equals(name) && !candidate.isBridge())
			.toList();
		if (candidates.isEmpty()) {
			throw new IllegalArgumentException("'" + targetClass.getName() + "' has no method '" + name + "'");
		}
		Method fallback = candidates.stream()
			.filter((candidate) -> matches(candidate, method, targetClass))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("'" + LockDefinition.describe(candidates.get(0))
					+ "' returning " + candidates.get(0).getReturnType().getSimpleName()
					+ " does not have the same parameters and return type"));
		ReflectionUtils.makeAccessible(fallback);
		return fallback;
	}

	private static boolean matches(Method candidate, Method method, Class<?> targetClass) {
		return !candidate.equals(method) && !Modifier.isAbstract(candidate.getModifiers())
				&& Arrays.equals(parameterTypes(candidate, targetClass), parameterTypes(method, targetClass))
				&& ClassUtils.isAssignable(returnType(method, targetClass), returnType(candidate, targetClass));
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
