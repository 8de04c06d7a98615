// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import javax.sql.DataSource;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ResourceLoader;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.ConfigurableTransactionManager;

import io.github.lockstarter.fencing.FenceTablePreparation;
import io.github.lockstarter.fencing.FencingSettings;
import io.github.lockstarter.store.LockStores;

/**
 * Fences transactions as the properties say.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ConfigurableTransactionManager.class)
class FencingConfiguration {

	@Bean
	@ConditionalOnMissingBean
	FencingSettings distributedLockFencingSettings(DistributedLockProperties properties,
			ConfigurableListableBeanFactory beanFactory) {
		return properties.fencing().settings((dataSource) -> keepsLocks(beanFactory, dataSource));
	}

	/**
	 * Return whether the default store is {@code jdbc}, in the database of a
	 * {@link DataSource}. The beans of the store are there, because it was created first.
	 */
	private static boolean keepsLocks(ConfigurableListableBeanFactory beanFactory, DataSource dataSource) {
		LockStores stores = beanFactory.getBeanProvider(LockStores.class).getIfUnique();
		return stores != null && stores.defaultName().equals("jdbc")
				&& beanFactory.getSingleton(JdbcLockConfiguration.POOLS) instanceof LockPools pools
				&& pools.isFor(dataSource);
	}

	@Bean
	ExcludedManagersCheck distributedLockExcludedManagersCheck(ListableBeanFactory beanFactory,
			FencingSettings settings) {
		return new ExcludedManagersCheck(beanFactory, settings.exclude());
	}

	/**
	 * Creates the tables. Migrations come first: their tools refuse a schema that already
	 * has a table.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ DataSourceUtils.class, EmbeddedDatabaseConnection.class })
	static class Tables {

		@Bean
		@ConditionalOnMissingBean
		FenceTablePreparation distributedLockFenceTables(DistributedLockProperties properties, FencingSettings settings,
				ResourceLoader resourceLoader) {
			boolean withLocks = properties.jdbc().initializeSchema() == JdbcLockProperties.SchemaInitialization.ALWAYS;
			return new FencingTables(properties.fencing(),
					(dataSource) -> withLocks && settings.ofLocks().test(dataSource), resourceLoader);
		}

	}

}
