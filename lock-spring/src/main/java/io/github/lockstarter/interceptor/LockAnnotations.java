// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;

import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.DistributedLock;

/**
 * Finds the annotations that apply to a method: its own, or else those of its class.
 */
final class LockAnnotations {

	private LockAnnotations() {
	}

	/**
	 * Return the annotations of a method.
	 * @param method a method of the target class, not of an interface of it
	 * @param targetClass the class of the bean
	 * @return the annotations, several if they are repeated
	 */
	static List<DistributedLock> find(Method method, Class<?> targetClass) {
		List<DistributedLock> own = nearest(method);
		return (own.isEmpty() && isCoveredByClass(method)) ? nearest(targetClass) : own;
	}

	private static boolean isCoveredByClass(Method method) {
		return Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())
				&& !ReflectionUtils.isObjectMethod(method);
	}

	private static List<DistributedLock> nearest(AnnotatedElement element) {
		List<MergedAnnotation<DistributedLock>> found = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY)
			.stream(DistributedLock.class)
			.toList();
		// Those further away are what an overridden method or a superclass says
		return found.stream()
			.filter((annotation) -> annotation.getAggregateIndex() == found.get(0).getAggregateIndex())
			.map(MergedAnnotation::synthesize)
			.toList();
	}

}
