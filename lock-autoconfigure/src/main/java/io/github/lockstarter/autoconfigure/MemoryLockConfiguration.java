// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.spring.LockStoreBeans;

/**
 * Declares the store in the memory of this JVM as a bean if it is the default one.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "distributed-lock.store", havingValue = "memory")
class MemoryLockConfiguration {

	private static final String BEAN = LockStoreBeans.KIND + LockStoreBeans.MEMORY;

	@Bean(BEAN)
	@Primary
	@ConditionalOnMissingBean(name = BEAN)
	MemoryLockStore distributedLockMemoryStore() {
		return new MemoryLockStore();
	}

}
