// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AdviceModeImportSelector;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;

import io.github.lockstarter.store.LockStores;

/**
 * Selects the configurations of an application without Spring Boot. With Spring Boot,
 * auto-configuration imports the same, except for the stores.
 */
class DistributedLocksSelector extends AdviceModeImportSelector<EnableDistributedLocks> {

	@Override
	protected String[] selectImports(AdviceMode mode) {
		return new String[] { DistributedLocksConfiguration.class.getName(), locking(mode).getName(),
				Stores.class.getName(), LockRegistryConfiguration.class.getName(),
				LockFencingConfiguration.class.getName() };
	}

	/** Proxies or weaving, never both. */
	private static Class<?> locking(AdviceMode mode) {
		return (mode == AdviceMode.ASPECTJ) ? LockWeavingConfiguration.class : LockAdvisorConfiguration.class;
	}

	/**
	 * The {@link io.github.lockstarter.store.LockStore} beans.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Stores {

		@Bean
		@Fallback
		LockStores distributedLockStores(ConfigurableListableBeanFactory beanFactory) {
			return LockStoreBeans.of(beanFactory);
		}

	}

}
