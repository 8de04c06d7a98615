// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.ResourceLoader;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.spring.LockRegistryConfiguration;
import io.github.lockstarter.spring.LockStoreBeans;
import io.github.lockstarter.store.LockStores;

/**
 * Declares the registry, with the stores and settings of the application, unless the
 * application has one.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(LockRegistry.class)
@Import(LockRegistryConfiguration.class)
class LockEngineConfiguration {

	private static final Log logger = LogFactory.getLog(LockEngineConfiguration.class);

	@Bean
	@ConditionalOnMissingBean
	EngineSettings distributedLockEngineSettings(DistributedLockProperties properties) {
		return properties.engineSettings();
	}

	@Bean
	@ConditionalOnMissingBean(LockStores.class)
	LockStoreBeans distributedLockStores(ConfigurableListableBeanFactory beanFactory,
			DistributedLockProperties properties, ResourceLoader resourceLoader) {
		LockStoreChoice choice = new LockStoreChoice(beanFactory, resourceLoader.getClassLoader());
		String store = choice.choose(properties.store());
		logger.info("Locks are kept in the store '" + store + "'"
				+ (beanFactory.containsBean(store) ? "" : place(store, properties)));
		return new LockStoreBeans(beanFactory, store, LockStoreBeans.MEMORY::equals);
	}

	/**
	 * Return where a kind of store keeps locks, as the end of a sentence.
	 */
	private static String place(String kind, DistributedLockProperties properties) {
		return switch (kind) {
			case "redis" -> ", in keys that begin with '" + properties.keyPrefix() + "'";
			case "jdbc" -> ", in the table '" + properties.jdbc().tablePrefix() + "lock'";
			case "zookeeper" -> ", below the node '" + properties.zookeeper().root() + "'";
			case "redlock" -> ", on " + properties.redlock().nodes().size() + " Redis servers";
			case LockStoreBeans.MEMORY -> ", which other instances do not see";
			default -> "";
		};
	}

}
