// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Recognizes mocks that replace beans in tests. A mock has nothing to lock.
 */
final class Mocks {

	private final @Nullable Method mockingDetails;

	private final @Nullable Method isMock;

	Mocks(@Nullable ClassLoader classLoader) {
		this.mockingDetails = method("org.mockito.Mockito", classLoader, "mockingDetails", Object.class);
		this.isMock = method("org.mockito.MockingDetails", classLoader, "isMock");
	}

	boolean isMock(Object bean) {
		if (this.mockingDetails == null || this.isMock == null) {
			return false;
		}
		Object details = ReflectionUtils.invokeMethod(this.mockingDetails, null, bean);
		return details != null && Boolean.TRUE.equals(ReflectionUtils.invokeMethod(this.isMock, details));
	}

	private static @Nullable Method method(String type, @Nullable ClassLoader classLoader, String name,
			Class<?>... parameters) {
		return ClassUtils.isPresent(type, classLoader)
				? ReflectionUtils.findMethod(ClassUtils.resolveClassName(type, classLoader), name, parameters) : null;
	}

}
