// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.lifecycle.LockLifecycle;
import io.github.lockstarter.validation.LockDefinitionValidator;

/**
 * What every application with locks has, with and without Spring Boot: the definitions of
 * its locks and their validation, a template, and a shutdown that waits for holders.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
@Import(LockTransactionConfiguration.class)
public class DistributedLocksConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockDefinitionSource distributedLockDefinitionSource(ConfigurableListableBeanFactory beanFactory) {
		return new LockDefinitionSource(beanFactory);
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockDefinitionValidator distributedLockDefinitionValidator(LockDefinitionSource definitions,
			ConfigurableListableBeanFactory beanFactory, LockAdvice advice) {
		return new LockDefinitionValidator(definitions, beanFactory, advice.mode());
	}

	@Bean
	@Fallback
	LockTemplate distributedLockTemplate(LockRegistry registry, LockAdvice advice) {
		return advice.template(registry);
	}

	/**
	 * Drains the registries of this context, also those that the application declares.
	 */
	@Bean
	LockLifecycle distributedLockLifecycle(ListableBeanFactory beanFactory) {
		return new LockLifecycle(beanFactory.getBeansOfType(DefaultLockRegistry.class).values());
	}

}
