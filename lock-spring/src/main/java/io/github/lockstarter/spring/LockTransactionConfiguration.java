// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.transaction.ConfigurableTransactionManager;

import io.github.lockstarter.transaction.LockCommitGuard;

/**
 * Keeps transactions from committing after their lock was lost, for all transaction
 * managers of the application.
 */
@Configuration(proxyBeanMethods = false)
@Conditional(TransactionsPresent.class)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class LockTransactionConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockCommitGuards distributedLockCommitGuards() {
		return new LockCommitGuards();
	}

	/**
	 * Adds the guard to transaction managers.
	 */
	static final class LockCommitGuards implements BeanPostProcessor {

		private final LockCommitGuard guard = new LockCommitGuard();

		@Override
		public Object postProcessBeforeInitialization(Object bean, String beanName) {
			if (bean instanceof ConfigurableTransactionManager manager) {
				manager.addListener(this.guard);
			}
			return bean;
		}

	}

}
