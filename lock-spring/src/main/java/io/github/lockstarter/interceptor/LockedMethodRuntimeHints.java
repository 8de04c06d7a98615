// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.expression.ParseException;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.DistributedLock;

/**
 * Registers for reflection in native images what only annotations refer to: fallback
 * methods, and the parts of arguments of which keys are made, such as the components of a
 * record. What a key calls on other beans has to be registered by the application.
 */
class LockedMethodRuntimeHints implements BeanRegistrationAotProcessor {

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
		Class<?> type = ClassUtils.getUserClass(bean.getBeanClass());
		if (!AnnotationUtils.isCandidateClass(type, DistributedLock.class)) {
			return null;
		}
		List<Method> fallbacks = fallbacks(type);
		Type[] arguments = argumentsOfKeys(type);
		return (fallbacks.isEmpty() && arguments.length == 0) ? null : (context, code) -> {
			ReflectionHints hints = context.getRuntimeHints().reflection();
			fallbacks.forEach((fallback) -> hints.registerMethod(fallback, ExecutableMode.INVOKE));
			new BindingReflectionHintsRegistrar().registerReflectionHints(hints, arguments);
		};
	}

	private static Type[] argumentsOfKeys(Class<?> type) {
		return LockAnnotations.methods(type)
			.stream()
			.flatMap((method) -> LockAnnotations.find(method, type)
				.stream()
				.map(DistributedLock::key)
				.filter((key) -> !key.isEmpty())
				.flatMap((key) -> argumentsOf(key, method)))
			.distinct()
			.toArray(Type[]::new);
	}

	private static Stream<Type> argumentsOf(String key, Method method) {
		try {
			// The value of a placeholder is known only when the application runs
			return key.contains("${") ? Arrays.stream(method.getGenericParameterTypes())
					: LockKeyExpression.argumentsOf(key, method);
		}
		catch (ParseException ex) {
			// The application does not start
			return Stream.empty();
		}
	}

	private static List<Method> fallbacks(Class<?> type) {
		Method[] methods = ReflectionUtils.getUniqueDeclaredMethods(type);
		Set<String> names = Arrays.stream(methods)
			.flatMap((method) -> LockAnnotations.find(method, type).stream())
			.map(DistributedLock::fallback)
			.collect(Collectors.toSet());
		// The value of a placeholder is known only when the application runs
		boolean anyName = names.stream().anyMatch((name) -> name.contains("${"));
		return Arrays.stream(methods).filter((method) -> anyName || names.contains(method.getName())).toList();
	}

}
