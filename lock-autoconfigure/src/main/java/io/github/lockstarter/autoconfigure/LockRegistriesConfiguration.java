// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.stream.Stream;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.spring.LockFencingConfiguration;
import io.github.lockstarter.spring.LockRegistryFactory;

/**
 * Declares one registry for each kind of store on the class path, which is created when
 * it is used, and the one that is injected by its type, unless the application has one.
 */
@Configuration(proxyBeanMethods = false)
class LockRegistriesConfiguration {

	/** The registry that is injected by its type. */
	static final String DEFAULT = "distributedLockRegistry";

	private static final String LOCAL = "distributedLockLocalRegistry";

	/**
	 * The registries of an application whose locks are distributed.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = DistributedLockProperties.PREFIX + ".enabled", matchIfMissing = true)
	@Import({ RedisLockConfiguration.class, RedlockConfiguration.class, JdbcLockConfiguration.class,
			ZooKeeperLockConfiguration.class, FencingConfiguration.class, LockFencingConfiguration.class })
	static class Enabled {

		/**
		 * The registry of the chosen store.
		 */
		@Configuration(proxyBeanMethods = false)
		@ConditionalOnMissingBean(LockRegistry.class)
		static class Default {

			@Bean
			LockStoreNotice distributedLockStoreNotice(ConfigurableListableBeanFactory beanFactory,
					Environment environment, LockRegistry registry, DistributedLockProperties properties) {
				return new LockStoreNotice(beanFactory, environment, registry, properties);
			}

			@Bean(DEFAULT)
			LockRegistry distributedLockRegistry(ConfigurableListableBeanFactory beanFactory,
					LockRegistryFactory registries, DistributedLockProperties properties) {
				return new DefaultRegistry(beanFactory, registries, properties).choose();
			}

		}

	}

	/**
	 * One registry under the names of all kinds of stores, whose locks are kept in this
	 * JVM.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = DistributedLockProperties.PREFIX + ".enabled", havingValue = false)
	@Import(Names.class)
	static class Disabled {

		private static final Log logger = LogFactory.getLog(LockRegistriesConfiguration.class);

		@Bean(DEFAULT)
		@ConditionalOnMissingBean(LockRegistry.class)
		LockRegistry distributedLockRegistry(@Qualifier(LOCAL) LockRegistry registry) {
			return registry;
		}

		@Bean(name = LOCAL, defaultCandidate = false)
		LockRegistry distributedLockLocalRegistry(LockRegistryFactory registries) {
			return registries.create("memory", new MemoryLockStore());
		}

		@Bean
		SmartInitializingSingleton distributedLockDisabledNotice() {
			return () -> logger.warn(
					"Distributed locks are disabled (distributed-lock.enabled=false): locks are kept in this JVM, and other"
							+ " instances do not see them");
		}

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
				.forEach((name) -> registry.registerAlias(LOCAL, name));
		}

	}

}
