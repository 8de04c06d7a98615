// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.io.ResourceLoader;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.jdbc.JdbcLockSettings;
import io.github.lockstarter.jdbc.JdbcLockStore;
import io.github.lockstarter.spring.LockRegistryFactory;

/**
 * Declares the store {@code jdbc}, in the database of a {@link DataSource} of the
 * application. Migrations come first: their tools refuse a schema that already has a
 * table.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ JdbcLockStore.class, HikariDataSource.class, EmbeddedDatabaseConnection.class })
@Import(DatabaseInitializationDependencyConfigurer.class)
class JdbcLockConfiguration {

	static final String POOLS = "distributedLockPools";

	static final String REGISTRY = "jdbcLockRegistry";

	static final String STORE = "distributedLockJdbcStore";

	@Bean(POOLS)
	@Lazy
	LockPools distributedLockPools(DistributedLockProperties properties,
			@DistributedLockDataSource ObjectProvider<DataSource> qualified, ObjectProvider<DataSource> all) {
		DataSource application = BeanChoice.choose(qualified, all, DistributedLockDataSource.class);
		if (application == null) {
			throw new LockStoreNotFoundException(
					"Distributed locks in a database need a DataSource bean, but there is none",
					"add the driver of your database and set spring.datasource.url; beside R2DBC, for which Spring Boot"
							+ " declares no DataSource, declare one with @Bean(defaultCandidate = false) and"
							+ " @DistributedLockDataSource");
		}
		return new LockPools(application, properties.jdbc().poolSize(), properties.jdbc().table());
	}

	@Bean(name = REGISTRY, defaultCandidate = false)
	@Lazy
	@ConditionalOnMissingBean(name = REGISTRY)
	LockRegistry jdbcLockRegistry(LockRegistryFactory registries, @Qualifier(STORE) JdbcLockStore store) {
		return registries.create("jdbc", store);
	}

	@Bean(name = STORE, defaultCandidate = false)
	@Lazy
	@DependsOnDatabaseInitialization
	JdbcLockStore distributedLockJdbcStore(LockPools pools, DistributedLockProperties properties,
			ResourceLoader resourceLoader) {
		JdbcLockSettings settings = settings(properties.jdbc());
		new LockTable(properties.jdbc(), properties.fenceTable(), pools.acquiring(), resourceLoader).require();
		return new JdbcLockStore(pools.acquiring(), pools.owned(), settings);
	}

	private static JdbcLockSettings settings(JdbcLockProperties jdbc) {
		return new JdbcLockSettings(jdbc.table(), jdbc.queryTimeout(), jdbc.durableGrants(), jdbc.notifications(),
				jdbc.minPollInterval(), jdbc.maxPollInterval(), jdbc.fenceRetention());
	}

}
