// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.reflect.Method;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.interceptor.InvalidLockDefinitionException;

/**
 * Checks that calls of the annotated methods of a bean acquire their locks.
 */
interface LockCheck {

	/**
	 * Check the class of a bean right after its creation.
	 * @param name its name
	 * @param type its class
	 * @param locked a method of the class with a lock
	 * @throws InvalidLockDefinitionException if the method would run without its lock
	 */
	default void checkClass(String name, Class<?> type, Method locked) {
	}

	/**
	 * Check a bean.
	 * @param name its name
	 * @param bean the bean, possibly a proxy, or {@code null} if it does not exist yet
	 * @param type its class, without proxies
	 * @param locked its methods with a lock, at least one
	 * @throws InvalidLockDefinitionException if a method would run without its lock
	 */
	void check(String name, @Nullable Object bean, Class<?> type, List<Method> locked);

}
