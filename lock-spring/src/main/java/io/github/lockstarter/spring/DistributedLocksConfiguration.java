// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

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
import io.github.lockstarter.store.LockStores;
import io.github.lockstarter.validation.LockDefinitionValidator;

/**
 * The beans of an application without Spring Boot. With Spring Boot, auto-configuration
 * declares the same beans, each unless the application has its own.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
@Import({ LockRegistryConfiguration.class, LockTransactionConfiguration.class, LockFencingConfiguration.class })
class DistributedLocksConfiguration {

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
	LockStores distributedLockStores(ConfigurableListableBeanFactory beanFactory) {
		return LockStoreBeans.of(beanFactory);
	}

	@Bean
	LockTemplate distributedLockTemplate(LockRegistry registry, LockAdvice advice) {
		return new LockTemplate(registry).withDefaults(advice.onActiveTransaction(), advice.persistenceContext());
	}

	@Bean
	LockLifecycle distributedLockLifecycle(DefaultLockRegistry registry) {
		return new LockLifecycle(registry);
	}

}
