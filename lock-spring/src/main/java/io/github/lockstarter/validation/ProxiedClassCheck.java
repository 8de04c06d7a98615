// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyProcessorSupport;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.interceptor.LockAnnotations;

/**
 * Refuses beans whose proxy would have to extend a final or sealed class.
 */
final class ProxiedClassCheck {

	private final ConfigurableListableBeanFactory beanFactory;

	private final Interfaces interfaces = new Interfaces();

	ProxiedClassCheck(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Return whether a class cannot be extended. JDK proxies and lambdas have final
	 * classes too, but Spring always proxies them by their interfaces.
	 */
	static boolean isClosed(Class<?> type) {
		return (Modifier.isFinal(type.getModifiers()) || type.isSealed()) && !type.isInterface()
				&& !LockAnnotations.isByInterface(type);
	}

	/**
	 * Check the class of a bean.
	 * @param name the name of the bean
	 * @param type its class
	 * @param method a method of the class with a lock
	 * @throws InvalidLockDefinitionException if the class cannot have a proxy
	 */
	void check(String name, Class<?> type, Method method) {
		if (isClosed(type) && isExtended(name, type)) {
			String keyword = Modifier.isFinal(type.getModifiers()) ? "final" : "sealed";
			throw new InvalidLockDefinitionException(method,
					"the class " + ClassUtils.getQualifiedName(type).replace('$', '.') + " is " + keyword
							+ ", so no proxy can intercept its calls",
					"Make it a class that is neither final nor sealed (records are final, as are Kotlin classes"
							+ " that are not open), or use a LockTemplate.",
					null);
		}
	}

	/** The same decision as that of the auto-proxy creator. */
	private boolean isExtended(String name, Class<?> type) {
		if (!this.beanFactory.containsBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)) {
			return false;
		}
		if (AutoProxyUtils.shouldProxyTargetClass(this.beanFactory, name)) {
			return true;
		}
		if (this.beanFactory.containsBeanDefinition(name)
				&& this.beanFactory.getBeanDefinition(name).hasAttribute(AutoProxyUtils.EXPOSED_INTERFACES_ATTRIBUTE)) {
			return false;
		}
		return this.beanFactory.getBean(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME) instanceof ProxyConfig proxies
				&& (proxies.isProxyTargetClass() || !this.interfaces.areEnough(type));
	}

	/** Finds the interfaces of a bean as the auto-proxy creator does. */
	private static final class Interfaces extends ProxyProcessorSupport {

		boolean areEnough(Class<?> type) {
			ProxyFactory factory = new ProxyFactory();
			evaluateProxyInterfaces(type, factory);
			return !factory.isProxyTargetClass();
		}

	}

}
