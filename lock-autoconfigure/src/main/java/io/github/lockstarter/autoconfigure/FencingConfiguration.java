// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.Optional;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ResourceLoader;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.ConfigurableTransactionManager;

import io.github.lockstarter.transaction.FenceTablePreparation;
import io.github.lockstarter.transaction.FencingSettings;

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
		return properties.fencing()
			.settings(properties.fenceTable(),
					(dataSource) -> keepsLocks(dataSource, beanFactory) ? Optional.of("jdbc") : Optional.empty());
	}

	/**
	 * Return whether the store {@code jdbc} is in the database of a {@link DataSource}.
	 * Its beans are created when something uses it, so there is no lock without them.
	 */
	private static boolean keepsLocks(DataSource dataSource, ConfigurableListableBeanFactory beanFactory) {
		return beanFactory.getSingleton(JdbcLockConfiguration.POOLS) instanceof LockPools pools
				&& pools.isFor(dataSource);
	}

	private static boolean isBesideLocks(DataSource dataSource, ConfigurableListableBeanFactory beanFactory) {
		return beanFactory.getSingleton(JdbcLockConfiguration.POOLS) instanceof LockPools pools
				&& pools.isFor(dataSource) && !pools.isApplication(dataSource);
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
		FenceTablePreparation distributedLockFenceTables(DistributedLockProperties properties,
				ConfigurableListableBeanFactory beanFactory, ResourceLoader resourceLoader) {
			return new FencingTables(properties.fencing(), properties.jdbc().initializeSchema(),
					(dataSource) -> keepsLocks(dataSource, beanFactory),
					(dataSource) -> isBesideLocks(dataSource, beanFactory), resourceLoader);
		}

	}

}
