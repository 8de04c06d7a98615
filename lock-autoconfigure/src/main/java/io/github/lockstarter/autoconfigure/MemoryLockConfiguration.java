// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;

/**
 * Declares the store in the memory of this JVM.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "distributed-lock.store", havingValue = "memory")
class MemoryLockConfiguration {

	@Bean
	@ConditionalOnMissingBean(LockStore.class)
	MemoryLockStore distributedLockStore() {
		return new MemoryLockStore();
	}

}
