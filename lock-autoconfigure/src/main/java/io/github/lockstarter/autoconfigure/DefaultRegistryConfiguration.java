// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.spring.LockRegistryFactory;

/**
 * Declares the registry that is injected by its type, unless the application has one.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(LockRegistry.class)
class DefaultRegistryConfiguration {

	static final String REGISTRY = "distributedLockRegistry";

	/**
	 * The registry of the chosen store.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = DistributedLockProperties.PREFIX + ".enabled", matchIfMissing = true)
	static class Enabled {

		@Bean
		LockStoreNotice distributedLockStoreNotice(ConfigurableListableBeanFactory beanFactory, Environment environment,
				LockRegistry registry, DistributedLockProperties properties) {
			return new LockStoreNotice(beanFactory, environment, registry, properties);
		}

		@Bean(REGISTRY)
		LockRegistry distributedLockRegistry(ConfigurableListableBeanFactory beanFactory,
				LockRegistryFactory registries, DistributedLockProperties properties) {
			return new DefaultRegistry(beanFactory, registries).of(properties.store());
		}

	}

	/**
	 * The registry whose locks are kept in this JVM.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = DistributedLockProperties.PREFIX + ".enabled", havingValue = false)
	static class Disabled {

		@Bean(REGISTRY)
		LockRegistry distributedLockRegistry(@Qualifier(DisabledLockConfiguration.REGISTRY) LockRegistry registry) {
			return registry;
		}

	}

}
