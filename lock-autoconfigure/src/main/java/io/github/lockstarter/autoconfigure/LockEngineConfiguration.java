// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.spring.LockRegistryConfiguration;
import io.github.lockstarter.spring.LockStoreBeans;
import io.github.lockstarter.store.LockStores;

/**
 * Declares the registry, with the stores and settings of the application, unless the
 * application has one.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(LockRegistry.class)
@Import(LockRegistryConfiguration.class)
class LockEngineConfiguration {

	@Bean
	@ConditionalOnMissingBean
	EngineSettings distributedLockEngineSettings(DistributedLockProperties properties) {
		return properties.engineSettings();
	}

	@Bean
	@ConditionalOnMissingBean(LockStores.class)
	LockStoreBeans distributedLockStores(ConfigurableListableBeanFactory beanFactory,
			DistributedLockProperties properties, ResourceLoader resourceLoader) {
		LockStoreChoice choice = new LockStoreChoice(beanFactory, resourceLoader.getClassLoader());
		return new LockStoreBeans(beanFactory, choice.choose(properties.store()));
	}

	@Bean
	LockStoreNotice distributedLockStoreNotice(ConfigurableListableBeanFactory beanFactory, Environment environment,
			LockStores stores, DistributedLockProperties properties) {
		return new LockStoreNotice(beanFactory, environment, stores, properties);
	}

}
