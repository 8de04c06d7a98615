// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.reflect.Method;
import java.util.List;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.interceptor.LockAnnotations;
import io.github.lockstarter.interceptor.LockDefinitionSource;

/**
 * Checks all annotated beans at startup, so that problems do not surface at the first
 * call. Beans that are created later are checked by their declared types.
 */
public final class LockDefinitionValidator implements SmartInitializingSingleton, BeanPostProcessor, PriorityOrdered {

	private final LockDefinitionSource definitions;

	private final ConfigurableListableBeanFactory beanFactory;

	private final LockCheck check;

	/**
	 * Create a validator.
	 * @param definitions provides the locks of methods
	 * @param beanFactory contains the beans to check
	 * @param adviceMode whether proxies or woven methods acquire the locks
	 */
	public LockDefinitionValidator(LockDefinitionSource definitions, ConfigurableListableBeanFactory beanFactory,
			AdviceMode adviceMode) {
		this.definitions = definitions;
		this.beanFactory = beanFactory;
		Mocks mocks = new Mocks(beanFactory.getBeanClassLoader());
		this.check = (adviceMode == AdviceMode.ASPECTJ) ? new LockWeavingCheck(mocks)
				: new LockProxyCheck(beanFactory, mocks);
	}

	/**
	 * Check the class of a bean before its proxy is created, because a failure to create
	 * the proxy would not mention the lock.
	 * @throws InvalidLockDefinitionException if the class cannot have a proxy
	 */
	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		Class<?> type = bean.getClass();
		if (ProxiedClassCheck.isClosed(type) && AnnotationUtils.isCandidateClass(type, DistributedLock.class)) {
			LockAnnotations.methods(type)
				.stream()
				.findFirst()
				.ifPresent((method) -> this.check.checkClass(beanName, type, method));
		}
		return bean;
	}

	/**
	 * Run before the processor that creates proxies.
	 */
	@Override
	public int getOrder() {
		return HIGHEST_PRECEDENCE;
	}

	/**
	 * Check all beans.
	 * @throws InvalidLockDefinitionException if an annotation cannot work
	 */
	@Override
	public void afterSingletonsInstantiated() {
		StoreCheck stores = StoreCheck.of(this.beanFactory);
		for (String name : this.beanFactory.getBeanNamesForType(Object.class)) {
			Class<?> type = AutoProxyUtils.determineTargetClass(this.beanFactory, name);
			if (type != null && AnnotationUtils.isCandidateClass(type, DistributedLock.class)) {
				checkBean(name, ClassUtils.getUserClass(type), stores);
			}
		}
		stores.warnOfUnknownNames();
	}

	private void checkBean(String name, Class<?> type, StoreCheck stores) {
		List<Method> locked = LockAnnotations.methods(type);
		if (locked.isEmpty()) {
			return;
		}
		Object bean = this.beanFactory.containsSingleton(name) ? this.beanFactory.getBean(name) : null;
		this.check.check(name, bean, type, locked);
		for (Method method : locked) {
			this.definitions.requests(method, type).forEach((request) -> stores.check(method, request));
		}
	}

}
