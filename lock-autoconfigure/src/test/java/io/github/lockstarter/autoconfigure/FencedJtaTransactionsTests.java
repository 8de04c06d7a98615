// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;

import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.api.security.NamePrincipal;
import io.agroal.narayana.NarayanaTransactionIntegration;
import jakarta.transaction.TransactionManager;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Applications that fence JTA transactions by a property. Their manager does not reveal
 * the database, so it is the only one of the application.
 */
class FencedJtaTransactionsTests {

	private static final String URL = "jdbc:h2:mem:jta;DB_CLOSE_DELAY=-1";

	private static final LockRequest REQUEST = LockRequest.of("sale");

	private final JdbcClient looking = JdbcClient.create(new DriverManagerDataSource(URL, "sa", ""));

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withBean(LockStore.class, () -> new MemoryLockStore(new LockMemory()))
		.withUserConfiguration(Jta.class)
		.withPropertyValues("distributed-lock.fencing.transactions=true");

	@Test
	void theTransactionOfALateOwnerIsRefused() {
		this.runner.run((context) -> {
			this.looking.sql("create table sales (id int)").update();
			JdbcClient jdbc = JdbcClient.create(context.getBean(AgroalDataSource.class));
			LockTemplate template = context.getBean(LockTemplate.class);
			TransactionTemplate transaction = new TransactionTemplate(context.getBean(JtaTransactionManager.class));
			template.executeWithoutResult(REQUEST, (lease) -> transaction.executeWithoutResult((status) -> {
				jdbc.sql("insert into sales values (1)").update();
				assertThat(count("distributed_lock_fence")).as("commits with the sale").isZero();
			}));
			assertThat(count("distributed_lock_fence")).isOne();
			this.looking.sql("update distributed_lock_fence set token = ?").param(Long.MAX_VALUE).update();
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> template.execute(REQUEST,
						(lease) -> transaction.execute((status) -> jdbc.sql("insert into sales values (2)").update())))
				.withMessageContaining("a later owner has claimed");
			assertThat(count("sales")).isOne();
		});
	}

	/** It is not known which one takes part in a transaction. */
	@Test
	void aSecondDatabaseEndsTheStart() {
		this.runner
			.withBean("other", DriverManagerDataSource.class, () -> new DriverManagerDataSource("jdbc:h2:mem:other"))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("Transactions of 'transactionManager' (JtaTransactionManager) cannot be fenced"));
	}

	private int count(String table) {
		return this.looking.sql("select count(*) from " + table).query(Integer.class).single();
	}

	@Configuration(proxyBeanMethods = false)
	static class Jta {

		private final TransactionManager transactions = com.arjuna.ats.jta.TransactionManager.transactionManager();

		@Bean
		JtaTransactionManager transactionManager() {
			return new JtaTransactionManager(com.arjuna.ats.jta.UserTransaction.userTransaction(), this.transactions);
		}

		@Bean
		AgroalDataSource dataSource() throws Exception {
			return AgroalDataSource
				.from(new AgroalDataSourceConfigurationSupplier().connectionPoolConfiguration((pool) -> pool.maxSize(2)
					.acquisitionTimeout(Duration.ofSeconds(10))
					.transactionIntegration(new NarayanaTransactionIntegration(this.transactions,
							new com.arjuna.ats.internal.jta.transaction.arjunacore.TransactionSynchronizationRegistryImple()))
					.connectionFactoryConfiguration(
							(connections) -> connections.connectionProviderClass(JdbcDataSource.class)
								.jdbcUrl(URL)
								.principal(new NamePrincipal("sa")))));
		}

	}

}
