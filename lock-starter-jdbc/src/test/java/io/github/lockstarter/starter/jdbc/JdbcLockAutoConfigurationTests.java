// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.jdbc;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.r2dbc.spi.ConnectionFactory;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.EmptyTargetSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.autoconfigure.DistributedLockDataSource;
import io.github.lockstarter.jdbc.JdbcLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The store in the database of an application, with Spring Boot's defaults.
 */
@ExtendWith(OutputCaptureExtension.class)
class JdbcLockAutoConfigurationTests {

	/** It takes long to start. */
	private static final String WITHOUT_JPA = "spring.autoconfigure.exclude="
			+ "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration,"
			+ "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration";

	private static final String WITH_JPA = "spring.autoconfigure.exclude=";

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@Test
	void theDatabaseOfTheApplicationKeepsTheLocks(CapturedOutput output) throws Exception {
		try (ConfigurableApplicationContext application = start(Shop.class, WITH_JPA)) {
			JdbcTemplate jdbc = application.getBean(JdbcTemplate.class);
			Shop.Sales sales = application.getBean(Shop.Sales.class);
			assertThat(sales.<Integer>sell(1001, () -> held(jdbc))).isOne();
			assertThat(sales.sold(1001)).isOne();
			assertThat(application.getBean(LockStore.class)).isInstanceOf(JdbcLockStore.class);
			assertThat(application.getBeansOfType(DataSource.class)).hasSize(1);
		}
		assertThat(output).containsOnlyOnce("Locks are kept in the store 'jdbc' at jdbc:h2:mem:")
			.containsOnlyOnce(", in the table 'distributed_lock' of the DataSource 'dataSource';"
					+ " transactions under locks of the store 'jdbc' are fenced in its database")
			.doesNotContain("WARN")
			.doesNotContain("ERROR");
	}

	private static int held(JdbcTemplate jdbc) {
		Integer held = jdbc.queryForObject("select count(*) from distributed_lock where owner is not null",
				Integer.class);
		return (held != null) ? held : 0;
	}

	@Test
	void bodiesThatOccupyAllConnectionsKeepTheirLocks() throws Exception {
		ManualTime time = new ManualTime();
		try (ConfigurableApplicationContext application = start(time, "spring.datasource.hikari.maximum-pool-size=1")) {
			JdbcTemplate jdbc = application.getBean(JdbcTemplate.class);
			LockRegistry registry = application.getBean(LockRegistry.class);
			Shop.Sales sales = application.getBean(Shop.Sales.class);
			LockRequest other = LockRequest.of("stock", 1001).withOwner("other").withWaitTime(Duration.ZERO);
			assertThat(sales.<Boolean>sell(1001, () -> {
				awaitRenewal(jdbc, () -> time.advance(Duration.ofSeconds(1)));
				return CompletableFuture.supplyAsync(() -> registry.tryAcquire(other).isEmpty()).get();
			})).isTrue();
			assertThat(sales.sold(1001)).isOne();
		}
	}

	@Test
	void threadsThatOccupyAllConnectionsOfTheLocksLoseNone() throws Exception {
		ManualTime time = new ManualTime();
		try (ConfigurableApplicationContext application = start(time, "distributed-lock.jdbc.pool-size=2",
				"distributed-lock.wait-time=1h", "distributed-lock.waiting.outage-time=1h",
				"spring.datasource.url=jdbc:h2:mem:occupied;LOCK_TIMEOUT=60000")) {
			JdbcTemplate jdbc = application.getBean(JdbcTemplate.class);
			LockRegistry registry = application.getBean(LockRegistry.class);
			IntStream.range(1002, 1006).forEach((key) -> registry.acquire(LockRequest.of("stock", key)).close());
			try (Lease lease = registry.acquire(LockRequest.of("stock", 1001))) {
				List<CompletableFuture<Void>> blocked = new ArrayList<>();
				new TransactionTemplate(application.getBean(PlatformTransactionManager.class))
					.executeWithoutResult((transaction) -> {
						jdbc.queryForList("select 1 from distributed_lock where lock_key > 'stock:1001' for update");
						for (int key = 1002; key < 1006; key++) {
							LockRequest request = LockRequest.of("stock", key);
							blocked.add(CompletableFuture.runAsync(() -> registry.acquire(request).close(),
									(task) -> new Thread(task).start()));
						}
						awaitRenewal(jdbc, () -> time.advance(Duration.ofSeconds(1)));
						assertThat(blocked).noneMatch(CompletableFuture::isDone);
					});
				assertThat(lease.isHeld()).isTrue();
				// Those whose requests were given up meanwhile ask again after a pause
				Awaitility.await().atMost(PATIENCE).pollInSameThread().until(() -> {
					time.advance(Duration.ofSeconds(1));
					return blocked.stream().allMatch(CompletableFuture::isDone);
				});
				blocked.forEach(CompletableFuture::join);
			}
		}
	}

	private static void awaitRenewal(JdbcTemplate jdbc, Runnable pass) {
		long before = expiresAt(jdbc);
		Awaitility.await().atMost(PATIENCE).pollInSameThread().until(() -> {
			pass.run();
			return expiresAt(jdbc) > before;
		});
	}

	private static long expiresAt(JdbcTemplate jdbc) {
		Long end = jdbc.queryForObject("select expires_at from distributed_lock where lock_key = 'stock:1001'",
				Long.class);
		return (end != null) ? end : 0;
	}

	@Test
	void migrationsComeFirst(CapturedOutput output) throws Exception {
		try (ConfigurableApplicationContext application = start(EarlyLocks.class, "spring.flyway.enabled=true",
				"spring.flyway.locations=classpath:io/github/lockstarter/starter/jdbc",
				"distributed-lock.jdbc.initialize-schema=never")) {
			assertThat(application.getBean("heldEarly")).isEqualTo(true);
		}
		assertThat(output).contains("Successfully applied 1 migration");
	}

	@Test
	void aMissingTableEndsTheStart(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Shop.class, "distributed-lock.jdbc.initialize-schema=never").close()))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("check that the table 'distributed_lock' was created with the script of this version")
			.contains("set distributed-lock.jdbc.initialize-schema=always")
			.doesNotContain("Locks are kept");
	}

	@Test
	void noTableIsCreatedInADatabaseThatIsNotInMemory(@TempDir Path directory, CapturedOutput output) {
		assertThat(catchThrowable(
				() -> start(Locks.class, "spring.datasource.url=jdbc:h2:file:" + directory.resolve("shop")).close()))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("The database of the locks is 'jdbc:h2:file:" + directory.resolve("shop") + "'. ")
			.contains("set distributed-lock.jdbc.initialize-schema=always");
	}

	@Test
	void aDatabaseThatDoesNotAnswerDoesNotEndTheStartAndGrantsNoLock(CapturedOutput output) {
		try (ConfigurableApplicationContext application = start(Unreachable.class)) {
			assertUnansweredIsTold(output, "");
			assertThat(catchThrowable(() -> application.getBean(LockRegistry.class)
				.acquire(LockRequest.of("stock").withWaitTime(Duration.ZERO))))
				.hasMessageContaining("the store could not be asked");
		}
	}

	/** It tries the database for seconds. */
	@Test
	@FullProfileOnly
	void aPoolWhoseDatabaseDoesNotAnswerDoesNotEndTheStart(CapturedOutput output) {
		start(Locks.class, "spring.datasource.url=jdbc:postgresql://localhost:1/shop").close();
		assertUnansweredIsTold(output, " 'jdbc:postgresql://localhost:1/shop'");
	}

	private static void assertUnansweredIsTold(CapturedOutput output, String address) {
		assertThat(output).contains("The database of the locks" + address + " cannot be asked")
			.contains("has the table 'distributed_lock'");
	}

	@Test
	void aDatabaseThatDoesNotAnswerEndsTheStartIfTheTableHasToBeCreated(CapturedOutput output) {
		assertThat(catchThrowable(
				() -> start(Unreachable.class, "distributed-lock.jdbc.initialize-schema=always").close()))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("so the table 'distributed_lock' cannot be created");
	}

	@ParameterizedTest
	@CsvSource({ "my_locks_fence, exclude=", "our_fence, table=our_fence" })
	void theScriptCreatesTablesOfOtherNames(String fences, String property) {
		try (ConfigurableApplicationContext application = start(Locks.class,
				"spring.datasource.url=jdbc:h2:mem:" + fences, "distributed-lock.jdbc.table=my_locks",
				"distributed-lock.fencing." + property);
				Lease lease = application.getBean(LockRegistry.class).acquire(LockRequest.of("stock"))) {
			assertThat(lease.isHeld()).isTrue();
			assertThat(application.getBean(JdbcTemplate.class)
				.queryForObject("select count(*) from my_locks", Integer.class)).isOne();
			assertThat(application.getBean(JdbcTemplate.class)
				.queryForObject("select count(*) from " + fences, Integer.class)).isZero();
		}
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "distributed-lock.jdbc.platform=oracle", "distributed-lock.jdbc.schema=classpath:none.sql" })
	void aMissingScriptEndsTheStart(String property, CapturedOutput output) {
		assertThat(catchThrowable(
				() -> start(Locks.class, "spring.datasource.url=jdbc:h2:mem:scriptless", property).close()))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("The script that should create the table failed (")
			.contains("distributed-lock.jdbc.platform (h2, mariadb, mysql, postgresql or generic)");
	}

	@ParameterizedTest
	@ValueSource(strings = { "embedded", "always" })
	void theScriptOfAnotherDatabaseEndsTheStart(String initializeSchema, CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Locks.class, "spring.datasource.url=jdbc:h2:mem:foreign",
				"distributed-lock.jdbc.platform=postgresql",
				"distributed-lock.jdbc.initialize-schema=" + initializeSchema)
			.close())).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("The script that should create the table failed (")
			.contains("choose the script of your database with distributed-lock.jdbc.platform")
			.doesNotContain("set distributed-lock.jdbc.initialize-schema=always")
			.doesNotContain("\tat ");
	}

	@Test
	void aDataSourceBehindAProxyHasSettingsAsWell(CapturedOutput output) {
		try (ConfigurableApplicationContext application = start(Proxied.class);
				Lease lease = application.getBean(LockRegistry.class).acquire(LockRequest.of("stock"))) {
			assertThat(lease.isHeld()).isTrue();
		}
		assertThat(output).doesNotContain("The locks share the connections");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aDataSourceThatChoosesBetweenDatabasesIsRefused(boolean lazy, CapturedOutput output) {
		assertThat(catchThrowable(() -> start(Routed.class, "lazy=" + lazy).close())).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("Distributed locks need one database, but the DataSource for them chooses between several")
			.contains("annotate the DataSource bean of one database with @DistributedLockDataSource");
	}

	@Test
	void aQualifierChoosesTheDatabaseOfTheLocks(CapturedOutput output) {
		try (ConfigurableApplicationContext application = start(QualifiedDatabase.class);
				Lease lease = application.getBean(LockRegistry.class).acquire(LockRequest.of("stock"))) {
			assertThat(held(new JdbcTemplate(application.getBean("locks", DataSource.class)))).isOne();
			assertThat(output).contains("of the DataSource 'locks'");
		}
	}

	/** Another manager would leave @Transactional without a single one. */
	@Test
	void besideR2dbcADataSourceForTheLocksAloneBringsNoTransactionManager() {
		try (ConfigurableApplicationContext application = start(BesideR2dbc.class);
				Lease lease = application.getBean(LockRegistry.class).acquire(LockRequest.of("stock"))) {
			assertThat(lease.isHeld()).isTrue();
			assertThat(application.getBeanNamesForType(TransactionManager.class)).isEmpty();
		}
	}

	@Test
	void besideR2dbcAMissingDataSourceIsToBeDeclared(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(OnlyR2dbc.class, "spring.datasource.url=jdbc:h2:mem:r2dbc").close()))
			.isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("beside R2DBC, for which Spring Boot declares no DataSource, declare one with"
					+ " @Bean(defaultCandidate = false) and @DistributedLockDataSource");
	}

	@Test
	void twoDatabasesWithoutAQualifierAreAnalyzed(CapturedOutput output) {
		assertThat(catchThrowable(() -> start(TwoDatabases.class).close())).isNotNull();
		assertThat(output).contains("there are several: 'locks', 'orders'.")
			.contains("annotate one of these beans with @DistributedLockDataSource, mark one of them as @Primary");
	}

	@Test
	void theFirstUseInsideATransactionBindsNoConnection() {
		try (ConfigurableApplicationContext application = start(Shop.class, "distributed-lock.store=memory",
				"spring.datasource.url=jdbc:h2:mem:first-use")) {
			LockRequest request = LockRequest.of("stock");
			new TransactionTemplate(application.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((transaction) -> {
					Set<Object> bound = Set.copyOf(TransactionSynchronizationManager.getResourceMap().keySet());
					application.getBean("jdbcLockRegistry", LockRegistry.class).acquire(request).close();
					assertThat(TransactionSynchronizationManager.getResourceMap().keySet())
						.filteredOn((resource) -> resource instanceof DataSource)
						.isSubsetOf(bound);
					transaction.setRollbackOnly();
				});
			assertThat(application.getBean(JdbcTemplate.class)
				.queryForObject("select count(*) from distributed_lock", Long.class)).isOne();
		}
	}

	@Test
	void aMissingPoolIsNamed(CapturedOutput output) {
		SpringApplicationBuilder application = new SpringApplicationBuilder(Locks.class)
			.resourceLoader(new DefaultResourceLoader(new FilteredClassLoader(HikariDataSource.class)))
			.properties("spring.flyway.enabled=false", WITHOUT_JPA, "distributed-lock.store=jdbc");
		assertThat(catchThrowable(() -> application.run().close())).isNotNull();
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains("add the dependency io.github.lockstarter:lock-starter-jdbc, which brings HikariCP");
	}

	private static ConfigurableApplicationContext start(ManualTime time, String... properties) {
		return new SpringApplicationBuilder(Shop.class).properties("spring.flyway.enabled=false", WITHOUT_JPA)
			.properties(properties)
			.initializers((context) -> context.getBeanFactory().registerSingleton("time", time))
			.run();
	}

	private static ConfigurableApplicationContext start(Class<?> application, String... properties) {
		return new SpringApplicationBuilder(application).properties("spring.flyway.enabled=false", WITHOUT_JPA)
			.properties(properties)
			.run();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Locks {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class OnlyR2dbc {

		@Bean
		ConnectionFactory connectionFactory() {
			return ProxyFactory.getProxy(ConnectionFactory.class, EmptyTargetSource.INSTANCE);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(OnlyR2dbc.class)
	static class BesideR2dbc {

		@Bean(defaultCandidate = false)
		@DistributedLockDataSource
		DataSource lockDataSource() {
			return DataSourceBuilder.create().url("jdbc:h2:mem:beside-r2dbc").build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Unreachable {

		@Bean
		DataSource dataSource() {
			return new AbstractDataSource() {

				@Override
				public Connection getConnection() throws SQLException {
					throw new SQLTransientConnectionException("It does not answer");
				}

				@Override
				public Connection getConnection(String username, String password) throws SQLException {
					return getConnection();
				}

			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class EarlyLocks {

		@Bean
		boolean heldEarly(LockRegistry registry) {
			try (Lease lease = registry.acquire(LockRequest.of("stock"))) {
				return lease.isHeld();
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Proxied {

		@Bean
		DataSource dataSource() {
			HikariDataSource target = new HikariDataSource();
			target.setJdbcUrl("jdbc:h2:mem:proxied");
			return new LazyConnectionDataSourceProxy(target);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Routed {

		@Bean
		DataSource dataSource(@Value("${lazy}") boolean lazy) {
			AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

				@Override
				protected Object determineCurrentLookupKey() {
					return "north";
				}

			};
			DataSource north = new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).build();
			routing.setTargetDataSources(Map.of("north", north));
			routing.setDefaultTargetDataSource(north);
			routing.afterPropertiesSet();
			return lazy ? new LazyConnectionDataSourceProxy(routing) : routing;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class TwoDatabases {

		@Bean
		DataSource orders() {
			return new EmbeddedDatabaseBuilder().generateUniqueName(true).setType(EmbeddedDatabaseType.H2).build();
		}

		@Bean
		DataSource locks() {
			return new EmbeddedDatabaseBuilder().generateUniqueName(true).setType(EmbeddedDatabaseType.H2).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class QualifiedDatabase {

		@Bean
		DataSource orders() {
			return new EmbeddedDatabaseBuilder().generateUniqueName(true).setType(EmbeddedDatabaseType.H2).build();
		}

		@Bean
		@DistributedLockDataSource
		DataSource locks() {
			return new EmbeddedDatabaseBuilder().generateUniqueName(true).setType(EmbeddedDatabaseType.H2).build();
		}

	}

}
