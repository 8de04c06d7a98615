// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.spring.LockStoreBeans;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.LockStores;

/**
 * Auto-configuration for test slices such as {@code @WebMvcTest}: their locks are in the
 * memory of the JVM, regardless of the stores of the application.
 */
@AutoConfiguration(before = DistributedLockAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "spring.boot.enableautoconfiguration", havingValue = false)
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
public final class SliceLockAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean({ LockStore.class, LockRegistry.class })
	MemoryLockStore distributedLockStore() {
		return new MemoryLockStore();
	}

	@Bean
	@ConditionalOnMissingBean({ LockStores.class, LockRegistry.class })
	LockStoreBeans distributedLockStores(ConfigurableListableBeanFactory beanFactory) {
		String defaultBean = beanFactory.resolveNamedBean(LockStore.class).getBeanName();
		return new LockStoreBeans(beanFactory, defaultBean, (name) -> true);
	}

}
