// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.interceptor.LockDefinitionSource;
import io.github.lockstarter.validation.LockDefinitionValidator;

/**
 * What every application with locks has, with and without Spring Boot: the definitions of
 * its locks and their validation, a template, and the factory of its registries, which
 * waits for holders at a shutdown.
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
	static LockRegistryFactory distributedLockRegistryFactory(ConfigurableListableBeanFactory beanFactory,
			ObjectProvider<LockRegistry> injected, LockAdvice advice, ApplicationEventPublisher publisher) {
		return new LockRegistryFactory(beanFactory, injected, advice, publisher);
	}

	@Bean
	@Fallback
	LockTemplate distributedLockTemplate(LockRegistryFactory registries, LockRegistry registry) {
		return new LockTemplate(registries.aware(registry));
	}

}
