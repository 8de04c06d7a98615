// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

import org.springframework.util.ClassUtils;

/**
 * Describes methods in messages.
 */
public final class MethodLabel {

	private MethodLabel() {
	}

	/**
	 * Return the name of a method with its class and the types of its parameters.
	 * @param method the method
	 */
	public static String of(Method method) {
		return Arrays.stream(method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", ", ClassUtils.getQualifiedMethodName(method) + "(", ")"));
	}

}
