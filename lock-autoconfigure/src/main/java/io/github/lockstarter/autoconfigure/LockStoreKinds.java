// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Declares a lazy bean for each kind of store on the class path, which is created if it
 * is the default store or something names it.
 */
@Configuration(proxyBeanMethods = false)
@Import({ RedisLockConfiguration.class, RedlockConfiguration.class, JdbcLockConfiguration.class,
		ZooKeeperLockConfiguration.class, MemoryLockConfiguration.class })
class LockStoreKinds {

}
