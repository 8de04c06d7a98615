// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import io.github.lockstarter.spring.LockFencingConfiguration;

/**
 * What only locks across instances need: a lazy registry for each kind of store on the
 * class path, which is created if it is the default one or something names it, and fences
 * in databases.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = DistributedLockProperties.PREFIX + ".enabled", matchIfMissing = true)
@Import({ RedisLockConfiguration.class, RedlockConfiguration.class, JdbcLockConfiguration.class,
		ZooKeeperLockConfiguration.class, FencingConfiguration.class, LockFencingConfiguration.class })
class EnabledLockConfiguration {

}
