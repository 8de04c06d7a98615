// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import io.github.lockstarter.spring.LockFencingConfiguration;

/**
 * What only locks across instances need: their stores, and fences in databases.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
@Import({ LockStoreKinds.class, FencingConfiguration.class, LockFencingConfiguration.class })
class EnabledLockConfiguration {

}
