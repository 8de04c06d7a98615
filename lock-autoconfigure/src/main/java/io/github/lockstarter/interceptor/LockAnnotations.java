// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.InvalidLockDefinitionException;

/**
 * Finds the annotation that applies to a method: its own, or else that of its class.
 */
final class LockAnnotations {

	private LockAnnotations() {
	}

	/**
	 * Return the annotation of a method.
	 * @param method a method of the target class, not of an interface of it
	 * @param targetClass the class of the bean
	 * @return the annotation, or {@code null} if there is none
	 * @throws InvalidLockDefinitionException if there are two
	 */
	static @Nullable DistributedLock find(Method method, Class<?> targetClass) {
		DistributedLock own = nearest(method, method);
		return (own == null && isCoveredByClass(method)) ? nearest(targetClass, method) : own;
	}

	private static boolean isCoveredByClass(Method method) {
		return Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())
				&& !ReflectionUtils.isObjectMethod(method);
	}

	private static @Nullable DistributedLock nearest(AnnotatedElement element, Method method) {
		List<MergedAnnotation<DistributedLock>> found = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY)
			.stream(DistributedLock.class)
			.toList();
		if (found.isEmpty()) {
			return null;
		}
		MergedAnnotation<DistributedLock> nearest = found.get(0);
		// Those further away are what an overridden method or a superclass says
		if (found.stream().filter((other) -> other.getAggregateIndex() == nearest.getAggregateIndex()).count() > 1) {
			throw new InvalidLockDefinitionException(LockDefinition.describe(method),
					"it has the annotation more than once, directly or through other annotations",
					"Leave one of them; nest two methods to hold two locks.", null);
		}
		return nearest.synthesize();
	}

}
