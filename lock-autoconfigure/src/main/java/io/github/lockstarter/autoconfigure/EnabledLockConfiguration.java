// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import io.github.lockstarter.LockSettings;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.lifecycle.LockLifecycle;
import io.github.lockstarter.spring.LockFencingConfiguration;

/**
 * Acquires locks in a store.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = "distributed-lock.enabled", matchIfMissing = true)
@Import({ LockStoreKinds.class, LockEngineConfiguration.class, FencingConfiguration.class,
		LockFencingConfiguration.class })
class EnabledLockConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LockSettings distributedLockSettings(DistributedLockProperties properties) {
		return properties.lockSettings();
	}

	@Bean
	@ConditionalOnBean(DefaultLockRegistry.class)
	@ConditionalOnMissingBean
	LockLifecycle distributedLockLifecycle(DefaultLockRegistry registry) {
		return new LockLifecycle(registry);
	}

}
