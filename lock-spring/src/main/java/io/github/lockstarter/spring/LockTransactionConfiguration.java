// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.context.event.ContextRefreshedEvent;
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
	static final class LockCommitGuards implements BeanPostProcessor, BeanFactoryAware, SmartInitializingSingleton,
			ApplicationListener<ContextRefreshedEvent> {

		private final LockCommitGuard guard = new LockCommitGuard();

		private @Nullable ConfigurableListableBeanFactory beans;

		@Override
		public void setBeanFactory(BeanFactory beanFactory) {
			if (beanFactory instanceof ConfigurableListableBeanFactory beans) {
				this.beans = beans;
			}
		}

		@Override
		public Object postProcessBeforeInitialization(Object bean, String beanName) {
			if (bean instanceof ConfigurableTransactionManager manager) {
				manager.addListener(this.guard);
			}
			return bean;
		}

		/**
		 * Guard the managers that were created before this post-processor, because
		 * another one needs them, or because they belong to a parent context.
		 */
		@Override
		public void afterSingletonsInstantiated() {
			guard(this.beans);
		}

		/**
		 * Guard the managers of a child context, which has other post-processors.
		 */
		@Override
		public void onApplicationEvent(ContextRefreshedEvent event) {
			guard(event.getApplicationContext().getAutowireCapableBeanFactory());
		}

		@Override
		public boolean supportsAsyncExecution() {
			return false;
		}

		private void guard(@Nullable BeanFactory first) {
			BeanFactory next = first;
			while (next instanceof ConfigurableListableBeanFactory beans) {
				for (String name : beans.getBeanNamesForType(ConfigurableTransactionManager.class, true, false)) {
					if (beans.containsSingleton(name)
							&& beans.getBean(name) instanceof ConfigurableTransactionManager manager
							&& manager.getTransactionExecutionListeners()
								.stream()
								.noneMatch(LockCommitGuard.class::isInstance)) {
						manager.addListener(this.guard);
					}
				}
				next = beans.getParentBeanFactory();
			}
		}

	}

}
