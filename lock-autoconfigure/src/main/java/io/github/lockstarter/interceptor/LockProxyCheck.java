// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;

import org.aopalliance.aop.Advice;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.InvalidLockDefinitionException;

/**
 * Checks that the lock is really around a bean, and outside of its transactions.
 */
final class LockProxyCheck {

	private static final Log logger = LogFactory.getLog(LockProxyCheck.class);

	private final ConfigurableListableBeanFactory beanFactory;

	private final boolean transactions;

	private final Mocks mocks;

	LockProxyCheck(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.transactions = ClassUtils.isPresent("org.springframework.transaction.interceptor.TransactionInterceptor",
				getClass().getClassLoader());
		this.mocks = new Mocks(beanFactory.getBeanClassLoader());
	}

	/**
	 * Check a bean.
	 * @param name its name
	 * @param bean the bean, maybe a proxy
	 * @param method one of its methods with a lock
	 * @throws InvalidLockDefinitionException if the method would run without its lock
	 */
	void check(String name, Object bean, Method method) {
		if (isLocked(name, bean, method) || this.mocks.isMock(bean)) {
			return;
		}
		if (!this.beanFactory.containsBeanDefinition(name)) {
			logger.warn("The bean '" + name + "' was not created by Spring, so '" + LockDefinition.describe(method)
					+ "' runs without a lock");
			return;
		}
		throw new InvalidLockDefinitionException(LockDefinition.describe(method),
				"the bean '" + name + "' has no proxy, so its methods would run without a lock",
				"Let no bean post-processor, and nothing that one needs, depend on this bean.", null);
	}

	private boolean isLocked(String name, Object bean, Method method) {
		Object candidate = bean;
		while (candidate instanceof Advised advised) {
			for (Advisor advisor : advised.getAdvisors()) {
				if (advisor instanceof DistributedLockAdvisor) {
					return true;
				}
				if (this.transactions && Transactions.isTransaction(advisor.getAdvice())) {
					throw new InvalidLockDefinitionException(LockDefinition.describe(method),
							"the transactions of the bean '" + name + "' would begin before its lock is taken and"
									+ " commit after it is given back",
							"Set distributed-lock.advice-order, or the order of the lock's advisor, to a lower value"
									+ " than that of transactions.",
							null);
				}
			}
			if (!(advised.getTargetSource() instanceof SingletonTargetSource source)) {
				// A scoped proxy: the object behind it has the lock
				return true;
			}
			candidate = source.getTarget();
		}
		return false;
	}

	/** Linked only where Spring's transactions are present. */
	private static final class Transactions {

		static boolean isTransaction(Advice advice) {
			return advice instanceof org.springframework.transaction.interceptor.TransactionInterceptor;
		}

	}

}
