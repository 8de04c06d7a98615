// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Set;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.spring.LockRegistryConfiguration;
import io.github.lockstarter.spring.LockStoreBeans;
import io.github.lockstarter.store.LockStore;
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
	@ConditionalOnMissingBean(LockStores.class)
	LockStores distributedLockStores(ConfigurableListableBeanFactory beanFactory,
			DistributedLockProperties properties) {
		if (!properties.enabled()) {
			return new LocalLockStores(new MemoryLockStore());
		}
		return new LockStoreBeans(beanFactory, new LockStoreChoice(beanFactory).choose(properties.store()));
	}

	@Bean
	LockStoreNotice distributedLockStoreNotice(ConfigurableListableBeanFactory beanFactory, Environment environment,
			LockStores stores, DistributedLockProperties properties) {
		return new LockStoreNotice(beanFactory, environment, stores, properties);
	}

	/**
	 * Keeps all locks in this JVM, whatever store they name, for an application that has
	 * disabled distributed locks.
	 *
	 * @param memory keeps the locks
	 */
	private record LocalLockStores(LockStore memory) implements LockStores {

		@Override
		public String defaultName() {
			return LockStoreBeans.MEMORY;
		}

		@Override
		public LockStore find(String name) {
			return this.memory;
		}

		@Override
		public String canonicalName(String name) {
			return LockStoreBeans.MEMORY;
		}

		@Override
		public Set<String> names() {
			return Set.of(LockStoreBeans.MEMORY);
		}

	}

}
