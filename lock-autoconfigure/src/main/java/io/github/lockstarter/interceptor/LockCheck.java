// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Checks that the locks are really around the methods of a bean that ask for one.
 */
interface LockCheck {

	/**
	 * Check a bean.
	 * @param name its name
	 * @param bean the bean, maybe a proxy, or {@code null} if it does not exist yet
	 * @param type its class, without proxies
	 * @param locked its methods with a lock, at least one
	 * @throws io.github.lockstarter.InvalidLockDefinitionException if one would run
	 * without its lock
	 */
	void check(String name, @Nullable Object bean, Class<?> type, List<Method> locked);

}
