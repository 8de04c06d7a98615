// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.EntityManagerFactory;
import jakarta.transaction.TransactionManager;
import jakarta.transaction.UserTransaction;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.jta.JtaTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.autoconfigure.DistributedLockDataSource;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.test.SafetyViolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Transactions of the {@code DataSource} that keeps the locks, which is PostgreSQL: they
 * are fenced unless a property is against it.
 */
@ExtendWith(OutputCaptureExtension.class)
class FencedByDefaultTests {

	private static final String OFF = "distributed-lock.fencing.transactions=false";

	/** It takes long to start. */
	private static final String WITHOUT_JPA = "spring.autoconfigure.exclude="
			+ "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration,"
			+ "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration";

	private final LockRequest request = LockRequest.of("stock", UUID.randomUUID());

	private final String url = SharedServers.postgres();

	private final JdbcClient looking = JdbcClient.create(new DriverManagerDataSource(this.url));

	private ConfigurableApplicationContext start(Class<?> application, String... properties) {
		return new SpringApplicationBuilder(application)
			.properties("spring.flyway.enabled=false", "distributed-lock.jdbc.initialize-schema=always",
					"spring.datasource.url=" + this.url)
			.properties(properties)
			.run();
	}

	private static int claims(JdbcClient jdbc) {
		return jdbc.sql("select count(*) from distributed_lock_fence").query(Integer.class).single();
	}

	@Test
	void aLateOwnerIsRefusedBeforeItReads() {
		List<String> ran = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> runLate(ran))
			.withMessageContaining("a later owner has claimed the lock in the database");
		assertThat(ran).containsExactly("later");
	}

	/** So the test above is one. */
	@Test
	void aPropertySwitchesItOff() {
		List<String> ran = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> runLate(ran, OFF))
			.withMessageNotContaining("claimed");
		assertThat(ran).containsExactly("later", "late");
		assertThat(claims(this.looking)).isZero();
	}

	/**
	 * Run the transaction of an owner after that of a later one in another instance, as
	 * if the first instance had been paused for longer than its lease.
	 */
	private void runLate(List<String> ran, String... properties) {
		try (ConfigurableApplicationContext application = start(Shop.class, properties);
				ConfigurableApplicationContext other = start(Shop.class, properties)) {
			application.getBean(LockTemplate.class).executeWithoutResult(this.request, (lease) -> {
				CompletableFuture.runAsync(() -> {
					expire();
					other.getBean(LockTemplate.class)
						.executeWithoutResult(this.request, (later) -> transact(other, () -> ran.add("later")));
				}).join();
				transact(application, () -> ran.add("late"));
			});
		}
	}

	private static void transact(ConfigurableApplicationContext application, Runnable body) {
		new TransactionTemplate(application.getBean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> body.run());
	}

	@Test
	void aReaderWhoseTransactionWritesEndsTheStart(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(WithReader.class, WITHOUT_JPA).close())).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Reader.count()': its transaction under the lock is to be fenced, but readers");
		start(WithReader.class, WITHOUT_JPA, OFF).close();
	}

	/** The table is there as soon as the store is used. */
	@Test
	void locksThatAreKeptElsewhereFenceNothing(CapturedOutput output) {
		try (ConfigurableApplicationContext application = start(Shop.class, WITHOUT_JPA,
				"distributed-lock.store=memory")) {
			LockTemplate template = application.getBean(LockTemplate.class);
			LockTemplate inDatabase = new LockTemplate(application.getBean("jdbcLockRegistry", LockRegistry.class));
			inDatabase.executeWithoutResult(this.request, (lease) -> transact(application, () -> {
			}));
			assertThat(claims(this.looking)).isOne();
			template.executeWithoutResult(LockRequest.of("stock", UUID.randomUUID()),
					(lease) -> transact(application, () -> {
					}));
			assertThat(claims(this.looking)).isOne();
		}
		assertThat(output).contains("; further registries are 'jdbcLockRegistry'; transactions are fenced only under"
				+ " locks of 'jdbcLockRegistry', in its database");
	}

	@Test
	void aMissingTableEndsTheStart(CapturedOutput output) {
		start(Shop.class, WITHOUT_JPA, OFF).close();
		this.looking.sql("drop table distributed_lock_fence").update();
		assertThat(catchThrowable(
				() -> start(Shop.class, WITHOUT_JPA, "distributed-lock.jdbc.initialize-schema=never").close()))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("The locks are kept in the database of this DataSource ('" + this.url.replaceFirst("[?].*", "")
					+ "'), so its transactions are fenced, but cannot claim fencing tokens in its table"
					+ " 'distributed_lock_fence' (ERROR: relation")
			.containsOnlyOnce("Run the second statement of the script for your database in io/github/lockstarter/jdbc")
			.containsOnlyOnce("distributed-lock.jdbc.initialize-schema=always")
			.containsOnlyOnce(OFF);
	}

	/** The script of the locks does not run. */
	@Test
	void aMissingTableIsCreatedBesideThatOfTheLocks() {
		start(Shop.class, WITHOUT_JPA, OFF).close();
		this.looking.sql("drop table distributed_lock_fence").update();
		start(Shop.class, WITHOUT_JPA).close();
		assertThat(claims(this.looking)).isZero();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void transactionsOfAnotherDataSourceAreFencedIfAPropertySaysSo(boolean all) {
		try (ConfigurableApplicationContext application = start(TwoDatabases.class,
				all ? "distributed-lock.fencing.transactions=true" : "distributed-lock.fencing.exclude=")) {
			for (String each : List.of("ordersTransactions", "locksTransactions")) {
				application.getBean(LockTemplate.class)
					.execute(this.request,
							(lease) -> new TransactionTemplate(
									application.getBean(each, PlatformTransactionManager.class))
								.execute((status) -> 1));
			}
			assertThat(claims(JdbcClient.create(application.getBean("locks", DataSource.class)))).isOne();
			JdbcClient orders = JdbcClient.create(application.getBean("orders", DataSource.class));
			if (all) {
				assertThat(claims(orders)).isOne();
			}
			else {
				assertThatExceptionOfType(BadSqlGrammarException.class).isThrownBy(() -> claims(orders));
			}
		}
	}

	/** None of them waits for the claim of an outer one. */
	@Test
	void transactionsOfAnotherDataSourceForTheDatabaseOfTheLocksAreFenced() {
		try (ConfigurableApplicationContext application = start(OneDatabase.class)) {
			JdbcClient jdbc = JdbcClient.create(application.getBean("locks", DataSource.class));
			TransactionTemplate orders = new TransactionTemplate(
					application.getBean("ordersTransactions", PlatformTransactionManager.class));
			TransactionTemplate locks = new TransactionTemplate(
					application.getBean("locksTransactions", PlatformTransactionManager.class));
			LockTemplate template = application.getBean(LockTemplate.class);
			template.execute(this.request, (lease) -> orders.execute((status) -> 1));
			assertThat(claims(jdbc)).isOne();
			template.execute(this.request, (lease) -> orders.execute((outer) -> locks.execute((inner) -> 1)));
			assertThat(claims(jdbc)).isOne();
		}
	}

	/** The second owner waits for the first one, whose lease has expired unnoticed. */
	@Test
	void noUpdateIsLostThroughAnotherAddressOfTheDatabaseOfTheLocks() {
		this.looking.sql("create table counter as select 0 as number").update();
		try (ConfigurableApplicationContext application = start(TwoAddresses.class);
				ConfigurableApplicationContext other = start(TwoAddresses.class)) {
			AtomicReference<CompletableFuture<Void>> later = new AtomicReference<>();
			LockTemplate template = application.getBean(LockTemplate.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> template.executeWithoutResult(this.request, (lease) -> transact(application, () -> {
					int number = number(application);
					expire();
					later.set(CompletableFuture.runAsync(() -> other.getBean(LockTemplate.class)
						.executeWithoutResult(this.request,
								(next) -> transact(other, () -> write(other, number(other) + 1)))));
					Awaitility.await()
						.atMost(Duration.ofMinutes(1))
						.until(() -> later.get().isDone() || waitsForARow());
					write(application, number + 1);
				})));
			later.get().join();
			SafetyViolation.check(number(application) == 2, "One of two updates was lost");
		}
	}

	private void expire() {
		assertThat(this.looking.sql("update distributed_lock set expires_at = 0 where lock_key = ?")
			.param(this.request.key().text())
			.update()).isOne();
	}

	private boolean waitsForARow() {
		return this.looking
			.sql("select exists (select 1 from pg_stat_activity where wait_event_type = 'Lock'"
					+ " and datname = current_database())")
			.query(Boolean.class)
			.single();
	}

	private static int number(ConfigurableApplicationContext application) {
		return application.getBean(JdbcClient.class).sql("select number from counter").query(Integer.class).single();
	}

	private static void write(ConfigurableApplicationContext application, int number) {
		application.getBean(JdbcClient.class).sql("update counter set number = ?").param(number).update();
	}

	@Test
	void aDatabaseThatDoesNotKeepTheLocksIsNamed(CapturedOutput output) {
		start(TwoDatabases.class).close();
		assertThat(output)
			.containsOnlyOnce("are not fenced by default, because the table 'distributed_lock' of the"
					+ " locks is not seen through it")
			.doesNotContain("WARN");
	}

	/** All of them may be read-only. */
	@Test
	void aUserWhoMayOnlyReadInTheDatabaseOfTheLocksIsWarnedOf(CapturedOutput output) {
		try (ConfigurableApplicationContext application = start(OneDatabase.class)) {
			JdbcClient jdbc = JdbcClient.create(application.getBean("locks", DataSource.class));
			jdbc.sql("create user reader password ''").update();
			jdbc.sql("grant select on distributed_lock, distributed_lock_fence to reader").update();
			start(OneDatabase.class, "orders.user=reader").close();
			assertThat(output).containsOnlyOnce("but cannot claim fencing tokens in its table 'distributed_lock_fence'")
				.containsOnlyOnce("Under a lock of the store 'jdbc', its transactions fail unless they are read-only: ")
				.contains("Not enough rights");
			jdbc.sql("drop user reader").update();
		}
	}

	/** It has no database of its own to ask. */
	@Test
	void aDataSourceThatChoosesIsNotAsked(CapturedOutput output) {
		start(Tenants.class).close();
		assertThat(output).containsOnlyOnce("Transactions of 'tenantsTransactions' (JdbcTransactionManager) cannot be"
				+ " fenced, because its DataSource chooses between several databases");
		assertThat(output).doesNotContain("it is unknown whether");
	}

	/** No transaction begins, so nobody has to run one. */
	@Test
	void jtaEndsTheStartWithTheFenceByHand(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Jta.class, "distributed-lock.fencing.transactions=true").close()))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Transactions of 'transactionManager' (JtaTransactionManager) cannot be fenced")
			.contains("update … set fence = :token where … and fence < :token");
	}

	/** Its database may be that of the locks. */
	@ParameterizedTest
	@ValueSource(strings = { "distributed-lock.fencing.exclude=", "distributed-lock.fencing.exclude=transactionManager",
			OFF, "distributed-lock.store=memory" })
	void jtaIsWarnedOf(String property, CapturedOutput output) {
		start(Jta.class, property).close();
		if (property.endsWith("exclude=")) {
			assertThat(output).containsOnlyOnce(
					"Transactions of 'transactionManager' (JtaTransactionManager) cannot be fenced, because it does not"
							+ " reveal their connections. In the database that keeps the locks, they would be fenced by"
							+ " default: let a JdbcTransactionManager");
		}
		else {
			assertThat(output).doesNotContain("cannot be fenced");
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "locks", "orders" })
	void jpaWithoutTheDialectOfItsVendorIsWarnedOfInTheDatabaseOfTheLocks(String dataSource, CapturedOutput output) {
		new SpringApplicationBuilder(TwoDatabases.class).properties("spring.flyway.enabled=false")
			.initializers((context) -> ((GenericApplicationContext) context).registerBean("jpa",
					JpaTransactionManager.class, () -> jpa(context.getBean(dataSource, DataSource.class))))
			.run()
			.close();
		String warning = "Transactions of 'jpa' (JpaTransactionManager) cannot be fenced";
		if (dataSource.equals("locks")) {
			assertThat(output).containsOnlyOnce(warning);
		}
		else {
			assertThat(output).doesNotContain(warning);
		}
	}

	private static JpaTransactionManager jpa(DataSource dataSource) {
		JpaTransactionManager manager = new JpaTransactionManager(unused(EntityManagerFactory.class));
		manager.setDataSource(dataSource);
		return manager;
	}

	private static <T> T unused(Class<T> type) {
		return ProxyFactory.getProxy(type, EmptyTargetSource.INSTANCE);
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Shop.class, Reader.class })
	static class WithReader {

	}

	static class Reader {

		@DistributedLock(name = "stock", mode = LockMode.READ)
		@Transactional
		public void count() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			excludeName = { "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
					"org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration" })
	static class Jta {

		@Bean
		JtaTransactionManager transactionManager() {
			return new JtaTransactionManager(unused(UserTransaction.class), unused(TransactionManager.class));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			excludeName = { "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
					"org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration" })
	static class OneDatabase {

		@Bean
		DataSource orders(@Value("${orders.user:}") String user) {
			HikariDataSource pool = pool("jdbc:h2:mem:one");
			pool.setUsername(user);
			return pool;
		}

		@Bean
		@DistributedLockDataSource
		DataSource locks() {
			return pool("jdbc:h2:mem:one;DB_CLOSE_DELAY=-1");
		}

		private static HikariDataSource pool(String url) {
			HikariDataSource pool = new HikariDataSource();
			pool.setJdbcUrl(url);
			return pool;
		}

		@Bean
		JdbcTransactionManager ordersTransactions(DataSource orders) {
			return new JdbcTransactionManager(orders);
		}

		@Bean
		JdbcTransactionManager locksTransactions(DataSource locks) {
			return new JdbcTransactionManager(locks);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			excludeName = { "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
					"org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration" })
	static class TwoAddresses {

		@Bean
		@Primary
		DataSource orders(@Value("${spring.datasource.url}") String url) {
			return OneDatabase.pool(url.replace("127.0.0.1", "localhost"));
		}

		@Bean
		@DistributedLockDataSource
		DataSource locks(@Value("${spring.datasource.url}") String url) {
			return OneDatabase.pool(url);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			excludeName = { "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
					"org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration" })
	static class Tenants {

		@Bean
		AbstractRoutingDataSource tenants() {
			AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

				@Override
				protected @Nullable Object determineCurrentLookupKey() {
					return null;
				}

			};
			routing.setTargetDataSources(Map.of());
			return routing;
		}

		@Bean
		@DistributedLockDataSource
		DataSource locks() {
			return OneDatabase.pool("jdbc:h2:mem:tenants");
		}

		@Bean
		JdbcTransactionManager tenantsTransactions(DataSource tenants) {
			return new JdbcTransactionManager(tenants);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(
			excludeName = { "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
					"org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration" })
	static class TwoDatabases {

		@Bean
		DataSource orders() {
			return new EmbeddedDatabaseBuilder().generateUniqueName(true).setType(EmbeddedDatabaseType.H2).build();
		}

		@Bean
		@DistributedLockDataSource
		DataSource locks() {
			return new EmbeddedDatabaseBuilder().generateUniqueName(true).setType(EmbeddedDatabaseType.H2).build();
		}

		@Bean
		JdbcTransactionManager ordersTransactions(DataSource orders) {
			return new JdbcTransactionManager(orders);
		}

		@Bean
		JdbcTransactionManager locksTransactions(DataSource locks) {
			return new JdbcTransactionManager(locks);
		}

	}

}
