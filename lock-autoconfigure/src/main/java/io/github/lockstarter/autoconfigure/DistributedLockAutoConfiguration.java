// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.spring.LockTransactionConfiguration;

/**
 * Auto-configuration for distributed locks. The names of its beans begin with
 * {@code distributedLock}, so that they do not clash with those of other libraries.
 */
@AutoConfiguration(afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@EnableConfigurationProperties(DistributedLockProperties.class)
@Import({ EnabledLockConfiguration.class, LockEngineConfiguration.class, LockInterceptorConfiguration.class,
		LockTransactionConfiguration.class })
public final class DistributedLockAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LockSettings distributedLockSettings(DistributedLockProperties properties) {
		return properties.lockSettings();
	}

	@Bean
	@ConditionalOnMissingBean
	LockTemplate distributedLockTemplate(LockRegistry registry, DistributedLockProperties properties) {
		return new LockTemplate(registry).withDefaults(properties.onActiveTransaction(),
				properties.persistenceContext());
	}

}
