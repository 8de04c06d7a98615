// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import javax.sql.DataSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * A database in memory with a table of orders, and its transactions.
 */
@Configuration(proxyBeanMethods = false)
public class OrdersDatabase {

	@Bean(destroyMethod = "shutdown")
	DataSource dataSource() {
		return new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).generateUniqueName(true).build();
	}

	@Bean
	JdbcClient jdbc(DataSource dataSource) {
		JdbcClient jdbc = JdbcClient.create(dataSource);
		jdbc.sql("create table orders (id int)").update();
		return jdbc;
	}

	@Bean
	JdbcTransactionManager transactionManager(DataSource dataSource) {
		return new JdbcTransactionManager(dataSource);
	}

}
