// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.InvalidLockDefinitionException;

/**
 * Checks all beans when the application starts, so that no lock turns out to be missing
 * at the first call. Of a bean that is created later it sees what its declared type
 * shows.
 */
public final class LockDefinitionValidator implements SmartInitializingSingleton {

	private static final Log logger = LogFactory.getLog(LockDefinitionValidator.class);

	private final LockDefinitionSource definitions;

	private final ConfigurableListableBeanFactory beanFactory;

	private final LockProxyCheck proxies;

	/**
	 * Create a validator.
	 * @param definitions the locks of the methods
	 * @param beanFactory the beans to check
	 */
	public LockDefinitionValidator(LockDefinitionSource definitions, ConfigurableListableBeanFactory beanFactory) {
		this.definitions = definitions;
		this.beanFactory = beanFactory;
		this.proxies = new LockProxyCheck(beanFactory);
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
				checkBean(name, ClassUtils.getUserClass(type));
			}
		}
	}

	private void checkBean(String name, Class<?> type) {
		List<Method> locked = lockedMethods(type);
		for (Method method : locked) {
			requireProxyable(method, type);
			this.definitions.get(method, type);
		}
		if (!locked.isEmpty() && this.beanFactory.containsSingleton(name)) {
			this.proxies.check(name, this.beanFactory.getBean(name), locked.get(0));
		}
	}

	private List<Method> lockedMethods(Class<?> type) {
		Class<?>[] declaring = Proxy.isProxyClass(type) ? type.getInterfaces() : new Class<?>[] { type };
		try {
			return Arrays.stream(declaring)
				.flatMap((declared) -> Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(declared)))
				.filter((method) -> !method.isBridge() && !method.isSynthetic())
				.filter((method) -> this.definitions.hasLock(method, type))
				.toList();
		}
		catch (InvalidLockDefinitionException ex) {
			throw ex;
		}
		catch (IllegalStateException ex) {
			// A lazy bean may need classes that this application never has
			logger.debug("The methods of " + type + " cannot be read", ex);
			return List.of();
		}
	}

	private static void requireProxyable(Method method, Class<?> type) {
		int modifiers = method.getModifiers() & (Modifier.PRIVATE | Modifier.FINAL | Modifier.STATIC);
		if (modifiers != 0) {
			throw unreachable(method, "the method is " + Modifier.toString(modifiers));
		}
		boolean inPackage = (method.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) == 0;
		if (inPackage && !method.getDeclaringClass().getPackageName().equals(type.getPackageName())) {
			throw unreachable(method, "the method is not visible in the package of its bean's class " + type.getName());
		}
	}

	private static InvalidLockDefinitionException unreachable(Method method, String problem) {
		return new InvalidLockDefinitionException(LockDefinition.describe(method),
				problem + ", so no proxy can put a lock around it",
				"Make it a public method that is neither final nor static, or use a LockTemplate.", null);
	}

}
