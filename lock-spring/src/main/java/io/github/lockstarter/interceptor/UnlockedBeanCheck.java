// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.DistributedLock;

/**
 * Refuses annotated beans in an application context that has nothing to lock their
 * methods. Mocks may take their place.
 */
public final class UnlockedBeanCheck implements BeanPostProcessor {

	private static final Log logger = LogFactory.getLog(UnlockedBeanCheck.class);

	private final Mocks mocks;

	/**
	 * Create a check.
	 * @param classLoader the class loader of the beans
	 */
	public UnlockedBeanCheck(@Nullable ClassLoader classLoader) {
		this.mocks = new Mocks(classLoader);
	}

	/**
	 * Check a bean.
	 * @throws InvalidLockDefinitionException if one of its methods is annotated
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		Class<?> type = ClassUtils.getUserClass(bean);
		if (AnnotationUtils.isCandidateClass(type, DistributedLock.class)) {
			Stream<Class<?>> declaring = Proxy.isProxyClass(type) ? Stream.of(type.getInterfaces()) : Stream.of(type);
			declaring.forEach((declared) -> check(bean, beanName, declared));
		}
		return bean;
	}

	private void check(Object bean, String beanName, Class<?> type) {
		Method[] methods;
		try {
			methods = ReflectionUtils.getUniqueDeclaredMethods(type, ReflectionUtils.USER_DECLARED_METHODS);
		}
		catch (IllegalStateException ex) {
			// A bean may have methods for which this application lacks classes
			logger.debug("The methods of " + type + " cannot be read", ex);
			return;
		}
		for (Method method : methods) {
			if (isAnnotated(method, type) && !this.mocks.isMock(bean)) {
				throw unlocked(beanName, method);
			}
		}
	}

	private static InvalidLockDefinitionException unlocked(String beanName, Method method) {
		return new InvalidLockDefinitionException(LockDefinition.describe(method),
				"this application context has no distributed locks, so the bean '" + beanName
						+ "' would run without its lock",
				"Add @EnableAutoConfiguration to the application, or @ImportAutoConfiguration("
						+ "DistributedLockAutoConfiguration.class) to a test that starts a part of it; remove"
						+ " DistributedLockAutoConfiguration from excluded auto-configuration. Tests may replace the bean by a"
						+ " mock. To run without locks, set distributed-lock.enabled=false.",
				null);
	}

	private static boolean isAnnotated(Method method, Class<?> type) {
		return !LockAnnotations.find(method, type).isEmpty();
	}

}
