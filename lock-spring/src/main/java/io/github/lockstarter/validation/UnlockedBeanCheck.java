// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.reflect.Method;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.interceptor.LockAnnotations;

/**
 * Refuses annotated beans in an application context without distributed locks. Mocks of
 * such beans are accepted.
 */
public final class UnlockedBeanCheck implements BeanPostProcessor {

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
			List<Method> locked = LockAnnotations.methods(type);
			if (!locked.isEmpty() && !this.mocks.isMock(bean)) {
				throw unlocked(beanName, locked.get(0));
			}
		}
		return bean;
	}

	private static InvalidLockDefinitionException unlocked(String beanName, Method method) {
		return new InvalidLockDefinitionException(method,
				"this application context has no distributed locks, so the bean '" + beanName
						+ "' would run without its lock",
				"Add @EnableAutoConfiguration to the application, or @ImportAutoConfiguration("
						+ "DistributedLockAutoConfiguration.class) to a test slice; do not exclude"
						+ " DistributedLockAutoConfiguration. A test can replace the bean with a mock."
						+ " To run without locks, set distributed-lock.enabled=false.",
				null);
	}

}
