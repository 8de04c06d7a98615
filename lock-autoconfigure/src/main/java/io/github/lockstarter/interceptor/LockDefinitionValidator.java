// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.InvalidLockDefinitionException;

/**
 * Checks all beans when the application starts, lazy ones included, so that no lock turns
 * out to be missing at the first call.
 */
public final class LockDefinitionValidator implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(LockDefinitionValidator.class);

	private final LockDefinitionSource definitions;

	private final ConfigurableListableBeanFactory beanFactory;

	/**
	 * Create a validator.
	 * @param definitions the locks of the methods
	 * @param beanFactory the beans to check
	 */
	public LockDefinitionValidator(LockDefinitionSource definitions, ConfigurableListableBeanFactory beanFactory) {
		this.definitions = definitions;
		this.beanFactory = beanFactory;
	}

	/**
	 * Check all beans.
	 * @throws InvalidLockDefinitionException if an annotation cannot work
	 */
	@Override
	public void afterSingletonsInstantiated() {
		for (String name : this.beanFactory.getBeanNamesForType(Object.class)) {
			Class<?> type = AutoProxyUtils.determineTargetClass(this.beanFactory, name);
			if (type != null && AnnotationUtils.isCandidateClass(type, DistributedLock.class)) {
				checkBean(name, type);
			}
		}
	}

	private void checkBean(String name, Class<?> type) {
		List<Method> locked = lockedMethods(type);
		for (Method method : locked) {
			requireProxyable(method);
			this.definitions.get(method, type);
		}
		if (!locked.isEmpty() && this.beanFactory.containsSingleton(name)
				&& !isAdvised(this.beanFactory.getBean(name))) {
			throw new InvalidLockDefinitionException(LockDefinition.describe(locked.get(0)),
					"the bean '" + name + "' has no proxy, so its methods would run without a lock",
					"Do not set spring.aop.auto to false, and let no bean post-processor depend on this bean.", null);
		}
	}

	private List<Method> lockedMethods(Class<?> type) {
		Method[] methods;
		try {
			methods = ReflectionUtils.getUniqueDeclaredMethods(type);
		}
		catch (IllegalStateException ex) {
			// A lazy bean may need classes that this application never has
			logger.debug("The methods of " + type + " cannot be read", ex);
			return List.of();
		}
		return Arrays.stream(methods)
			.filter((method) -> !method.isBridge() && !method.isSynthetic())
			.filter((method) -> this.definitions.hasLock(method, type))
			.toList();
	}

	private static void requireProxyable(Method method) {
		int modifiers = method.getModifiers() & (Modifier.PRIVATE | Modifier.FINAL | Modifier.STATIC);
		if (modifiers != 0) {
			throw new InvalidLockDefinitionException(LockDefinition.describe(method),
					"the method is " + Modifier.toString(modifiers) + ", so no proxy can put a lock around it",
					"Make it a public method that is neither final nor static, or use a LockTemplate.", null);
		}
	}

	private static boolean isAdvised(Object bean) {
		Object candidate = bean;
		while (candidate instanceof Advised advised) {
			if (Arrays.stream(advised.getAdvisors()).anyMatch(DistributedLockAdvisor.class::isInstance)) {
				return true;
			}
			if (!(advised.getTargetSource() instanceof SingletonTargetSource source)) {
				// A scoped proxy: the object behind it has the lock
				return true;
			}
			candidate = source.getTarget();
		}
		return false;
	}

}
