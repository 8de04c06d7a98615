// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.validation;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;

import org.aopalliance.aop.Advice;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.interceptor.DistributedLockAdvisor;
import io.github.lockstarter.interceptor.InvalidLockDefinitionException;
import io.github.lockstarter.validation.bytecode.SelfInvocationCheck;

/**
 * Checks beans whose locks are acquired by proxies: a proxy must acquire the lock,
 * outside the transactions of the bean.
 */
final class LockProxyCheck implements LockCheck {

	private static final Log logger = LogFactory.getLog(LockProxyCheck.class);

	private final ConfigurableListableBeanFactory beanFactory;

	private final boolean transactions;

	private final SelfInvocationCheck selfInvocations = new SelfInvocationCheck();

	private final LifecycleCallbacks callbacks;

	private final ProxiedClassCheck classes;

	private final Mocks mocks;

	LockProxyCheck(ConfigurableListableBeanFactory beanFactory, Mocks mocks) {
		this.beanFactory = beanFactory;
		this.callbacks = new LifecycleCallbacks(beanFactory);
		this.classes = new ProxiedClassCheck(beanFactory);
		this.mocks = mocks;
		this.transactions = ClassUtils.isPresent("org.springframework.transaction.interceptor.TransactionInterceptor",
				getClass().getClassLoader());
	}

	@Override
	public void checkClass(String name, Class<?> type, Method locked) {
		this.classes.check(name, type, locked);
	}

	@Override
	public void check(String name, @Nullable Object bean, Class<?> type, List<Method> locked) {
		for (Method method : locked) {
			requireProxyable(method, type);
			requireNoCallback(name, method);
		}
		if (bean == null) {
			this.classes.check(name, type, locked.get(0));
			this.selfInvocations.check(type, locked);
		}
		else if (!this.mocks.isMock(bean)) {
			requireProxy(name, bean, locked.get(0));
			this.selfInvocations.check(type, locked);
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

	private void requireNoCallback(String name, Method method) {
		if (this.callbacks.contains(name, method)) {
			throw new InvalidLockDefinitionException(method,
					"Spring calls the method on the bean itself and not on its proxy, so it would run without a lock",
					"Acquire the lock inside the method with a LockTemplate, or move the code that needs it to a"
							+ " method of another bean. If the annotation is on the class and the method needs"
							+ " no lock, make the method non-public.",
					null);
		}
	}

	private static InvalidLockDefinitionException unreachable(Method method, String problem) {
		return new InvalidLockDefinitionException(method, problem + ", so no proxy can intercept its calls",
				"Make it a public method that is neither final nor static, or use a LockTemplate.", null);
	}

	private void requireProxy(String name, Object bean, Method method) {
		if (isLocked(name, bean, method)) {
			return;
		}
		if (!this.beanFactory.containsBeanDefinition(name)) {
			logger.warn("The bean '" + name + "' was not created by Spring, so '"
					+ InvalidLockDefinitionException.label(method) + "' runs without a lock");
			return;
		}
		throw new InvalidLockDefinitionException(method,
				"the bean '" + name + "' has no proxy, so its methods would run without a lock",
				"Make sure that no bean post-processor depends on this bean, directly or indirectly.", null);
	}

	private boolean isLocked(String name, Object bean, Method method) {
		Object candidate = bean;
		while (candidate instanceof Advised advised) {
			for (Advisor advisor : advised.getAdvisors()) {
				if (advisor instanceof DistributedLockAdvisor) {
					return true;
				}
				if (this.transactions && Transactions.isTransaction(advisor.getAdvice())) {
					throw new InvalidLockDefinitionException(method,
							"the transactions of the bean '" + name + "' would begin before its lock is acquired"
									+ " and commit after it is released",
							"Set distributed-lock.advice-order, or the order of the lock's advisor, to a lower value"
									+ " than that of transactions.",
							null);
				}
			}
			if (!(advised.getTargetSource() instanceof SingletonTargetSource source)) {
				// A scoped proxy: the proxy of its target acquires the lock
				return true;
			}
			candidate = source.getTarget();
		}
		return false;
	}

	/** Loaded only if Spring transactions are on the class path. */
	private static final class Transactions {

		static boolean isTransaction(Advice advice) {
			return advice instanceof org.springframework.transaction.interceptor.TransactionInterceptor;
		}

	}

}
