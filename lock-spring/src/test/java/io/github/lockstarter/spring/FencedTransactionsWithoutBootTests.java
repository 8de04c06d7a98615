// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.spring;

import javax.sql.DataSource;

import jakarta.persistence.EntityManagerFactory;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.DataSourceInitializer;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.transaction.FenceTableException;
import io.github.lockstarter.transaction.FencingNotPossibleException;
import io.github.lockstarter.transaction.FencingSettings;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.testsupport.OrdersDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

/**
 * Fenced transactions of a Spring application without Spring Boot, which declares its
 * settings as a bean.
 */
class FencedTransactionsWithoutBootTests {

	@Test
	void aLateOwnerIsRefused() {
		try (AnnotationConfigApplicationContext context = start(Application.class, Table.class)) {
			JdbcClient jdbc = context.getBean(JdbcClient.class);
			Sales sales = context.getBean(Sales.class);
			sales.sell();
			assertThat(jdbc.sql("update distributed_lock_fence set token = ?").param(Long.MAX_VALUE).update()).isOne();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(sales::sell)
				.withMessageContaining("a later owner has claimed");
			assertThat(jdbc.sql("select count(*) from orders").query(Integer.class).single()).isOne();
		}
	}

	@Test
	void aMissingTableEndsTheStart() {
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> start(Application.class).close())
			.havingRootCause()
			.withMessageContaining("DISTRIBUTED_LOCK_FENCE");
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> start(Application.class).close())
			.satisfies((ex) -> assertThat(ex).hasStackTraceContaining(FenceTableException.class.getName()));
	}

	@Test
	void aManagerWithoutADataSourceEndsTheStart() {
		assertThatExceptionOfType(Exception.class)
			.isThrownBy(() -> start(Application.class, Table.class, Messages.class).close())
			.havingRootCause()
			.isInstanceOf(FencingNotPossibleException.class)
			.withMessageContaining("Transactions of 'messages'");
	}

	/** Its transactions do not reveal their connections. */
	@Test
	void aManagerOfAnUnknownKindOfJpaEndsTheStart() {
		assertThatExceptionOfType(Exception.class)
			.isThrownBy(() -> start(Application.class, Table.class, Jpa.class).close())
			.havingRootCause()
			.isInstanceOf(FencingNotPossibleException.class)
			.withMessageContaining("Transactions of 'jpa'")
			.withMessageContaining("it does not reveal their connections");
	}

	@Test
	void theTransactionsOfAParentContextAreFenced() {
		try (AnnotationConfigApplicationContext parent = start(OrdersDatabase.class, Table.class);
				AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
			child.setParent(parent);
			child.register(OnlyLocks.class);
			child.refresh();
			JdbcClient jdbc = parent.getBean(JdbcClient.class);
			child.getBean(LockTemplate.class)
				.executeWithoutResult(LockRequest.of("sale"),
						(lease) -> new TransactionTemplate(
								parent.getBean("transactionManager", PlatformTransactionManager.class))
							.executeWithoutResult((status) -> jdbc.sql("insert into orders values (1)").update()));
			assertThat(jdbc.sql("select count(*) from distributed_lock_fence").query(Integer.class).single()).isOne();
		}
	}

	private static AnnotationConfigApplicationContext start(Class<?>... configurations) {
		return new AnnotationConfigApplicationContext(configurations);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	@EnableTransactionManagement
	@Import(OrdersDatabase.class)
	static class Application {

		@Bean
		LockStore store() {
			return new MemoryLockStore(new LockMemory());
		}

		@Bean
		FencingSettings fencing() {
			return FencingSettings.DEFAULTS.withTransactions();
		}

		@Bean
		Sales sales(JdbcClient jdbc) {
			return new Sales(jdbc);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	static class OnlyLocks {

		@Bean
		LockStore store() {
			return new MemoryLockStore(new LockMemory());
		}

		@Bean
		FencingSettings fencing() {
			return FencingSettings.DEFAULTS.withTransactions();
		}

	}

	static class Sales {

		private final JdbcClient jdbc;

		Sales(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(name = "sale")
		@Transactional("transactionManager")
		public void sell() {
			this.jdbc.sql("insert into orders values (1)").update();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Table {

		@Bean
		DataSourceInitializer table(DataSource dataSource) {
			DataSourceInitializer table = new DataSourceInitializer();
			table.setDataSource(dataSource);
			table.setDatabasePopulator(new ResourceDatabasePopulator(
					new ClassPathResource("io/github/lockstarter/fencing/schema-h2.sql")));
			return table;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Jpa {

		@Bean
		JpaTransactionManager jpa(DataSource dataSource) {
			JpaTransactionManager manager = new JpaTransactionManager(mock(EntityManagerFactory.class));
			manager.setDataSource(dataSource);
			return manager;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Messages {

		@Bean
		AbstractPlatformTransactionManager messages() {
			return new MessageTransactions();
		}

	}

	/** Transactions of something that is no database. */
	private static final class MessageTransactions extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return this;
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
