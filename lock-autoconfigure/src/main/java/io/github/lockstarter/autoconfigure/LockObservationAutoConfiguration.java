// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

import io.github.lockstarter.observation.LockMeterObservationHandler;
import io.github.lockstarter.observation.LockMeters;
import io.github.lockstarter.observation.LockObservationConvention;
import io.github.lockstarter.observation.LockObservations;
import io.github.lockstarter.spring.LockRegistryFactory;

/**
 * Auto-configuration for the observation and the meters of locks, if the application has
 * registries for them.
 */
@AutoConfiguration(after = DistributedLockAutoConfiguration.class,
		afterName = { "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration" })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean({ LockRegistryFactory.class, ObservationRegistry.class })
public final class LockObservationAutoConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LockObservations distributedLockObservations(ObservationRegistry registry,
			ObjectProvider<LockObservationConvention> convention) {
		return new LockObservations(registry, convention.getIfAvailable());
	}

	/**
	 * An application may observe without meters, but Spring Boot has no meters without
	 * observations.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnBean(MeterRegistry.class)
	static class Meters {

		/** Before the default handler, which would take it as well. */
		@Bean
		@Order(0)
		@ConditionalOnMissingBean
		LockMeterObservationHandler distributedLockMeterObservationHandler(MeterRegistry registry) {
			return new LockMeterObservationHandler(registry);
		}

		@Bean
		@ConditionalOnMissingBean
		LockMeters distributedLockMeters(MeterRegistry registry, LockRegistryFactory registries) {
			return new LockMeters(registry, registries);
		}

	}

}
