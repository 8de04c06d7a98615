// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.MethodParameter;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.DistributedLock;

/**
 * Finds the annotations that apply to a method: its own, or else those of its class.
 */
public final class LockAnnotations {

	private static final Log logger = LogFactory.getLog(LockAnnotations.class);

	private LockAnnotations() {
	}

	/**
	 * Return the annotations of a method.
	 * @param method a method of the target class, not of one of its interfaces
	 * @param targetClass the class of the bean
	 * @return the annotations, in the order of their declaration
	 */
	public static List<DistributedLock> find(Method method, Class<?> targetClass) {
		List<DistributedLock> own = nearest(method);
		if (own.isEmpty() && method.getDeclaringClass() != targetClass) {
			own = ofInterfaces(method, targetClass);
		}
		return (own.isEmpty() && isCoveredByClass(method)) ? nearest(targetClass) : own;
	}

	/**
	 * Return the methods of a bean to which annotations apply, or none if the methods
	 * cannot be read.
	 * @param type the class of the bean
	 */
	public static List<Method> methods(Class<?> type) {
		Class<?>[] declaring = isByInterface(type) ? type.getInterfaces() : new Class<?>[] { type };
		try {
			return Arrays.stream(declaring).flatMap(LockAnnotations::declaredMethods).toList();
		}
		catch (IllegalStateException ex) {
			// A lazy bean may refer to classes that are missing from this application
			logger.debug("The methods of " + type + " cannot be read", ex);
			return List.of();
		}
	}

	/**
	 * Return whether the annotations of a class are those of its interfaces. This applies
	 * to JDK proxies, such as repositories, and lambdas: their class names differ between
	 * JVMs, and their methods have no parameter names.
	 * @param type the class of a bean
	 */
	public static boolean isByInterface(Class<?> type) {
		return Proxy.isProxyClass(type) || ClassUtils.isLambdaClass(type);
	}

	private static Stream<Method> declaredMethods(Class<?> type) {
		return Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(type))
			.filter((method) -> !method.isBridge() && !method.isSynthetic())
			.filter((method) -> !find(method, type).isEmpty());
	}

	/**
	 * Return the annotations of the interfaces that a class implements by a method of its
	 * superclass, which does not know them.
	 */
	private static List<DistributedLock> ofInterfaces(Method method, Class<?> targetClass) {
		return ClassUtils.getAllInterfacesForClassAsSet(targetClass)
			.stream()
			.filter((type) -> !type.isAssignableFrom(method.getDeclaringClass()))
			.flatMap((type) -> Arrays.stream(type.getMethods()))
			.filter((declared) -> declared.getName().equals(method.getName())
					&& Arrays.equals(parameterTypes(declared, targetClass), parameterTypes(method, targetClass)))
			.map(LockAnnotations::nearest)
			.filter((found) -> !found.isEmpty())
			.findFirst()
			.orElse(List.of());
	}

	/** Type variables are what the class takes them for, and a bridge joins the two. */
	private static Class<?>[] parameterTypes(Method method, Class<?> targetClass) {
		return IntStream.range(0, method.getParameterCount())
			.mapToObj((index) -> new MethodParameter(method, index).withContainingClass(targetClass).getParameterType())
			.toArray(Class<?>[]::new);
	}

	private static boolean isCoveredByClass(Method method) {
		return Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers())
				&& !ReflectionUtils.isObjectMethod(method);
	}

	/**
	 * Return the overridden method or the class on which the annotations of a method are
	 * declared, or {@code null} if that is the method itself.
	 * @param method a method of the target class
	 */
	static @Nullable AnnotatedElement inheritedFrom(Method method) {
		List<MergedAnnotation<DistributedLock>> own = all(method);
		List<MergedAnnotation<DistributedLock>> found = own.isEmpty() ? all(method.getDeclaringClass()) : own;
		Object source = found.isEmpty() ? null : found.get(0).getSource();
		return (source instanceof AnnotatedElement element && !source.equals(method)) ? element : null;
	}

	private static List<MergedAnnotation<DistributedLock>> all(AnnotatedElement element) {
		return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).stream(DistributedLock.class).toList();
	}

	private static List<DistributedLock> nearest(AnnotatedElement element) {
		List<MergedAnnotation<DistributedLock>> found = all(element);
		// Annotations further away belong to an overridden method or a superclass
		return found.stream()
			.filter((annotation) -> annotation.getAggregateIndex() == found.get(0).getAggregateIndex())
			.map(MergedAnnotation::synthesize)
			.toList();
	}

}
