// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.backend.LockBackend;

/**
 * Says what is missing when nothing can keep the locks.
 */
@Configuration(proxyBeanMethods = false)
class NoLockBackendConfiguration {

	/**
	 * The properties come first, so that a misspelt backend is reported as what it is.
	 */
	@Bean
	@ConditionalOnMissingBean({ LockBackend.class, LockRegistry.class })
	LockBackend distributedLockBackend(DistributedLockProperties properties) {
		throw new LockBackendNotFoundException(
				"Distributed locks need Redis, and Spring Data Redis is not on the class path",
				"add the dependency org.springframework.boot:spring-boot-starter-data-redis");
	}

}
