// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ResourceLoader;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.store.LockStore;

/**
 * Reports what is missing when there is no store for the locks.
 */
@Configuration(proxyBeanMethods = false)
class NoLockStoreConfiguration {

	/**
	 * The properties are bound first, so that a misspelt store is reported as such.
	 */
	@Bean
	@ConditionalOnMissingBean({ LockStore.class, LockRegistry.class })
	LockStore distributedLockStore(DistributedLockProperties properties, ResourceLoader resourceLoader) {
		if (!ClassUtils.isPresent("io.github.lockstarter.redis.RedisLockStore", resourceLoader.getClassLoader())) {
			throw new LockStoreNotFoundException(
					"Distributed locks need Redis, but the store for it is not on the class path",
					"add the dependency io.github.lockstarter:lock-redis");
		}
		throw new LockStoreNotFoundException(
				"Distributed locks need Redis, but Spring Data Redis is not on the class path",
				"add the dependency org.springframework.boot:spring-boot-starter-data-redis");
	}

}
