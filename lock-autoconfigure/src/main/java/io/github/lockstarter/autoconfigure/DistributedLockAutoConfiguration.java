// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportSelector;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

import io.github.lockstarter.LockSettings;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.spring.DistributedLocksConfiguration;
import io.github.lockstarter.spring.LockAdvice;
import io.github.lockstarter.spring.LockAdvisorConfiguration;
import io.github.lockstarter.spring.LockWeavingConfiguration;

/**
 * Auto-configuration for distributed locks. The names of its beans begin with
 * {@code distributedLock}, so that they do not clash with those of other libraries.
 */
@AutoConfiguration(afterName = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration")
@EnableConfigurationProperties(DistributedLockProperties.class)
@Import({ DistributedLocksConfiguration.class, DistributedLockAutoConfiguration.Selector.class,
		LockRegistriesConfiguration.class })
public final class DistributedLockAutoConfiguration {

	/**
	 * It is created before all other beans, so it reads the properties itself.
	 */
	@Bean
	@ConditionalOnMissingBean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static LockAdvice distributedLockAdvice(Environment environment) {
		DistributedLockProperties properties = Binder.get(environment)
			.bindOrCreate(DistributedLockProperties.PREFIX, DistributedLockProperties.class);
		return new LockAdvice(properties.adviceMode(), properties.adviceOrder(), properties.onActiveTransaction(),
				properties.persistenceContext(), !properties.enabled());
	}

	@Bean
	@ConditionalOnMissingBean
	LockSettings distributedLockSettings(DistributedLockProperties properties) {
		return properties.lockSettings();
	}

	@Bean
	@ConditionalOnMissingBean
	EngineSettings distributedLockEngineSettings(DistributedLockProperties properties, Environment environment) {
		return properties.engineSettings(environment.getProperty("spring.application.name"));
	}

	/**
	 * Selects proxies or weaving, never both.
	 */
	static class Selector implements ImportSelector {

		private final Environment environment;

		Selector(Environment environment) {
			this.environment = environment;
		}

		@Override
		public String[] selectImports(AnnotationMetadata metadata) {
			AdviceMode mode = Binder.get(this.environment)
				.bind(DistributedLockProperties.PREFIX + ".advice-mode", AdviceMode.class)
				.orElse(AdviceMode.PROXY);
			Class<?> selected = (mode == AdviceMode.ASPECTJ) ? LockWeavingConfiguration.class
					: LockAdvisorConfiguration.class;
			return new String[] { selected.getName() };
		}

	}

}
