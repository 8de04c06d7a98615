// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.spring.LockRegistryFactory;

/**
 * Auto-configuration for the endpoint of the locks, if the application has Actuator and
 * exposes it.
 */
@AutoConfiguration(after = DistributedLockAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(LockRegistryFactory.class)
@ConditionalOnAvailableEndpoint(LocksEndpoint.class)
@EnableConfigurationProperties(LocksEndpointProperties.class)
public final class LocksEndpointAutoConfiguration {

	@Bean
	LocksEndpoint distributedLockEndpoint(LockRegistryFactory registries, ObjectProvider<LockRegistry> injected,
			ObjectProvider<EngineSettings> settings, ObjectProvider<SanitizingFunction> sanitizing,
			LocksEndpointProperties properties) {
		EngineSettings engine = settings.getIfAvailable();
		return new LocksEndpoint(registries::byName, injected, (engine != null) ? engine.instanceName() : null,
				sanitizing.orderedStream().toList(), properties.showValues(), StoreAnswer.PATIENCE);
	}

	@Bean
	@ConditionalOnAvailableEndpoint(endpoint = LocksEndpoint.class, exposure = EndpointExposure.WEB)
	LocksEndpointWebExtension distributedLockEndpointWebExtension(LocksEndpoint endpoint,
			LocksEndpointProperties properties) {
		return new LocksEndpointWebExtension(endpoint, properties.showValues(), properties.roles());
	}

}
