// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.lockstarter.backend.LockBackend;
import io.github.lockstarter.memory.MemoryLockBackend;

/**
 * Keeps the locks in the memory of this JVM.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "distributed-lock.backend", havingValue = "memory")
class MemoryLockConfiguration {

	@Bean
	@ConditionalOnMissingBean(LockBackend.class)
	MemoryLockBackend distributedLockBackend() {
		return new MemoryLockBackend();
	}

}
