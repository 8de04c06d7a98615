// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;

/**
 * Exception thrown at startup when a {@link DistributedLock} annotation cannot work.
 */
public class InvalidLockDefinitionException extends IllegalStateException {

	private final String method;

	private final String description;

	private final String action;

	/**
	 * Create an exception.
	 * @param method the annotated method
	 * @param problem the problem, with the name of the attribute
	 * @param action the change that solves the problem
	 * @param cause the exception that revealed the problem, or {@code null}
	 */
	public InvalidLockDefinitionException(Method method, String problem, String action, @Nullable Throwable cause) {
		this(label(method), "Invalid @DistributedLock on '" + label(method) + "'" + origin(method) + ": " + problem,
				action, cause);
	}

	private InvalidLockDefinitionException(String method, String description, String action,
			@Nullable Throwable cause) {
		super(description + ". " + action, cause);
		this.method = method;
		this.description = description;
		this.action = action;
	}

	/**
	 * Return the name of a method with its class and the types of its parameters, as
	 * messages show it.
	 * @param method the method
	 */
	public static String label(Method method) {
		return Arrays.stream(method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", ", ClassUtils.getQualifiedMethodName(method) + "(", ")"));
	}

	private static String origin(Method method) {
		AnnotatedElement origin = LockAnnotations.inheritedFrom(method);
		if (origin instanceof Method inherited) {
			return " (declared on '" + label(inherited) + "')";
		}
		if (origin instanceof Class<?> type) {
			return " (declared on the class"
					+ (type.equals(method.getDeclaringClass()) ? ")" : " " + type.getName() + ")");
		}
		return "";
	}

	/**
	 * Return the annotated method, as text.
	 */
	public String getMethod() {
		return this.method;
	}

	/**
	 * Return the problem and the method, without the {@linkplain #getAction() action}.
	 */
	public String getDescription() {
		return this.description;
	}

	/**
	 * Return the change that solves the problem.
	 */
	public String getAction() {
		return this.action;
	}

}
