// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.spring.LockRegistryConfiguration;

/**
 * Declares the registry, with the settings of the application, unless the application has
 * one.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(LockRegistry.class)
@Import(LockRegistryConfiguration.class)
class LockEngineConfiguration {

	@Bean
	@ConditionalOnMissingBean
	EngineSettings distributedLockEngineSettings(DistributedLockProperties properties) {
		return properties.engineSettings();
	}

}
