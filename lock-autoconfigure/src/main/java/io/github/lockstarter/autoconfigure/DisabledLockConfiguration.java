// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotationMetadata;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.spring.LockRegistryFactory;

/**
 * One registry under the names of all kinds of stores, whose locks are kept in this JVM.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnBooleanProperty(name = DistributedLockProperties.PREFIX + ".enabled", havingValue = false)
@Import(DisabledLockConfiguration.Names.class)
class DisabledLockConfiguration {

	static final String REGISTRY = "distributedLockLocalRegistry";

	private static final Log logger = LogFactory.getLog(DisabledLockConfiguration.class);

	@Bean(name = REGISTRY, defaultCandidate = false)
	LockRegistry distributedLockLocalRegistry(LockRegistryFactory registries) {
		return registries.create("memory", new MemoryLockStore());
	}

	@Bean
	SmartInitializingSingleton distributedLockDisabledNotice() {
		return () -> logger.warn(
				"Distributed locks are disabled (distributed-lock.enabled=false): locks are kept in this JVM, and other"
						+ " instances do not see them");
	}

	/**
	 * Leaves out the names that beans of other libraries have.
	 */
	static class Names implements ImportBeanDefinitionRegistrar {

		@Override
		public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
			Stream
				.of(RedisLockConfiguration.REGISTRY, JdbcLockConfiguration.REGISTRY,
						ZooKeeperLockConfiguration.REGISTRY, RedlockConfiguration.REGISTRY)
				.filter((name) -> !registry.isBeanNameInUse(name))
				.forEach((name) -> registry.registerAlias(REGISTRY, name));
		}

	}

}
