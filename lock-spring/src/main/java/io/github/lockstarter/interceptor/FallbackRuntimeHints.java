// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.DistributedLock;

/**
 * Registers fallback methods for reflection in native images, because only annotations
 * refer to them.
 */
class FallbackRuntimeHints implements BeanRegistrationAotProcessor {

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
		Class<?> type = ClassUtils.getUserClass(bean.getBeanClass());
		if (!AnnotationUtils.isCandidateClass(type, DistributedLock.class)) {
			return null;
		}
		List<Method> fallbacks = fallbacks(type);
		return fallbacks.isEmpty() ? null : (context, code) -> fallbacks.forEach(
				(fallback) -> context.getRuntimeHints().reflection().registerMethod(fallback, ExecutableMode.INVOKE));
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
