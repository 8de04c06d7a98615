// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;

import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.spring.LockFencingConfiguration;
import io.github.lockstarter.spring.LockStoreBeans;

/**
 * What only locks across instances need: a lazy bean for each kind of store on the class
 * path, which is created if it is the default store or something names it, and fences in
 * databases.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = DistributedLockProperties.PREFIX + ".enabled", matchIfMissing = true)
@Import({ RedisLockConfiguration.class, RedlockConfiguration.class, JdbcLockConfiguration.class,
		ZooKeeperLockConfiguration.class, FencingConfiguration.class, LockFencingConfiguration.class })
class EnabledLockConfiguration {

	private static final String MEMORY = LockStoreBeans.KIND + LockStoreBeans.MEMORY;

	@Bean(MEMORY)
	@Primary
	@ConditionalOnProperty(name = DistributedLockProperties.PREFIX + ".store", havingValue = LockStoreBeans.MEMORY)
	@ConditionalOnMissingBean(name = MEMORY)
	MemoryLockStore distributedLockMemoryStore() {
		return new MemoryLockStore();
	}

}
