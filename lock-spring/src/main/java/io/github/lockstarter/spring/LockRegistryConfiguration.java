// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.NamedBeanHolder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Lazy;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.store.LockStore;

/**
 * Declares the {@link LockRegistry} of the only or primary {@link LockStore} bean, unless
 * the application has a registry of its own.
 */
@Configuration(proxyBeanMethods = false)
class LockRegistryConfiguration {

	static final String REGISTRY = "distributedLockRegistry";

	@Bean(REGISTRY)
	@Fallback
	@Lazy
	LockRegistry distributedLockRegistry(LockRegistryFactory registries, ConfigurableListableBeanFactory beanFactory) {
		NamedBeanHolder<LockStore> store = beanFactory.resolveNamedBean(LockStore.class);
		// The registry is closed before its store
		beanFactory.registerDependentBean(store.getBeanName(), REGISTRY);
		return registries.create(store.getBeanName(), store.getBeanInstance());
	}

}
