// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.fencing.FencedR2dbcTransactionManager;
import io.github.lockstarter.fencing.R2dbcFenceTable;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Applications that fence their reactive transactions by a property or an annotation.
 */
class FencedReactiveTransactionsTests {

	private static final String ON = "distributed-lock.fencing.transactions=true";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withBean(LockStore.class, () -> new MemoryLockStore(new LockMemory()))
		.withUserConfiguration(Database.class);

	@Test
	void theTransactionOfALateOwnerIsRefused() {
		this.runner.withUserConfiguration(Plain.class).withPropertyValues(ON).run((context) -> {
			Sales sales = context.getBean(Sales.class);
			sales.sell().block();
			laterOwnersClaim(context);
			assertRefused(sales.sell());
			assertThat(sales.runs()).isOne();
		});
	}

	@Test
	void withoutThePropertyThereIsNoTable() {
		this.runner.withUserConfiguration(Plain.class).run((context) -> {
			context.getBean(Sales.class).sell().block();
			assertThat(tables(context)).isZero();
		});
	}

	@Test
	void anAnnotationFencesItsMethodOnly() {
		this.runner.withUserConfiguration(Plain.class, Fenced.class).run((context) -> {
			context.getBean(FencedSales.class).sellFenced().block();
			laterOwnersClaim(context);
			assertRefused(context.getBean(FencedSales.class).sellFenced());
			context.getBean(FencedSales.class).sell().block();
			context.getBean(Sales.class).sell().block();
		});
	}

	@Test
	void orDoesNot() {
		this.runner.withUserConfiguration(Plain.class, Fenced.class).withPropertyValues(ON).run((context) -> {
			FencedSales sales = context.getBean(FencedSales.class);
			sales.sellFenced().block();
			laterOwnersClaim(context);
			assertRefused(sales.sell());
			sales.sellUnfenced().block();
		});
	}

	@Test
	void theManagerKeepsItsSettings() {
		this.runner.withUserConfiguration(Plain.class)
			.run((context) -> assertThat(context.getBean(R2dbcTransactionManager.class))
				.isInstanceOf(FencedR2dbcTransactionManager.class)
				.satisfies((manager) -> assertThat(manager.isEnforceReadOnly()).isTrue())
				.satisfies((manager) -> assertThat(manager.getConnectionFactory())
					.isSameAs(context.getBean(ConnectionFactory.class)))
				.satisfies((manager) -> assertThat(manager.getTransactionExecutionListeners())
					.hasAtLeastOneElementOfType(Listener.class)));
	}

	@Test
	void aMissingTableEndsTheStart() {
		this.runner.withUserConfiguration(Plain.class)
			.withPropertyValues(ON, "distributed-lock.fencing.initialize-schema=never")
			.run((context) -> assertThat(analysisOf(context.getStartupFailure()))
				.satisfies((analysis) -> assertThat(analysis.getDescription())
					.contains("has no table 'distributed_lock_fence' for fenced transactions"))
				.satisfies((analysis) -> assertThat(analysis.getAction())
					.contains("io/github/lockstarter/fencing of lock-spring")
					.contains("distributed-lock.fencing.initialize-schema=always")));
	}

	@Test
	void theTableMayHaveAnotherName() {
		this.runner.withUserConfiguration(Plain.class)
			.withPropertyValues(ON, "distributed-lock.fencing.table-prefix=my_")
			.run((context) -> {
				context.getBean(Sales.class).sell().block();
				assertThat(context.getBean(DatabaseClient.class)
					.sql("select lock_key from my_lock_fence")
					.mapValue(String.class)
					.one()
					.block()).endsWith("/sale");
			});
	}

	@Test
	void aDatabaseThatIsNotEmbeddedGetsNoTable(@TempDir Path directory) {
		this.runner.withUserConfiguration(Plain.class)
			.withPropertyValues(ON, "database=r2dbc:h2:file:///" + directory.resolve("sales"))
			.run((context) -> assertThat(analysisOf(context.getStartupFailure()).getDescription())
				.contains("has no table 'distributed_lock_fence'"));
	}

	@Test
	void anotherKindOfManagerEndsTheStart() {
		this.runner.withUserConfiguration(Subclass.class)
			.withPropertyValues(ON)
			.run((context) -> assertThat(analysisOf(context.getStartupFailure()))
				.satisfies((analysis) -> assertThat(analysis.getDescription())
					.contains("Transactions of 'transactionManager'", "cannot be fenced", "R2dbcTransactionManager"))
				.satisfies((analysis) -> assertThat(analysis.getAction()).contains("FencedR2dbcTransactionManager",
						"distributed-lock.fencing.exclude")));
	}

	@Test
	void soItDoesForASingleAnnotation() {
		this.runner.withUserConfiguration(Subclass.class, Fenced.class)
			.run((context) -> assertThat(context.getStartupFailure()).rootCause()
				.hasMessageContaining("cannot be fenced"));
	}

	@Test
	void unlessItIsExcludedOrNothingIsFenced() {
		this.runner.withUserConfiguration(Subclass.class)
			.withPropertyValues(ON, "distributed-lock.fencing.exclude=transactionManager")
			.run((context) -> context.getBean(Sales.class).sell().block());
		this.runner.withUserConfiguration(Subclass.class).run((context) -> context.getBean(Sales.class).sell().block());
	}

	@Test
	void anApplicationMayExtendTheFencedManager() {
		this.runner.withUserConfiguration(Extended.class).withPropertyValues(ON).run((context) -> {
			context.getBean(Sales.class).sell().block();
			laterOwnersClaim(context);
			assertRefused(context.getBean(Sales.class).sell());
		});
	}

	private static FailureAnalysis analysisOf(Throwable failure) {
		return new FencingNotPossibleFailureAnalyzer().analyze(failure);
	}

	private static void laterOwnersClaim(ApplicationContext context) {
		context.getBean(DatabaseClient.class)
			.sql("update distributed_lock_fence set token = " + Long.MAX_VALUE)
			.fetch()
			.rowsUpdated()
			.block();
	}

	private static Long tables(ApplicationContext context) {
		return context.getBean(DatabaseClient.class)
			.sql("select count(*) from information_schema.tables where upper(table_name) like '%FENCE'")
			.mapValue(Long.class)
			.one()
			.block();
	}

	private static void assertRefused(Mono<?> call) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(call::block)
			.withMessageContaining("a later owner has claimed");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class Database {

		@Bean
		ConnectionFactory connectionFactory(Environment environment) {
			return ConnectionFactories.get(environment.getProperty("database",
					"r2dbc:h2:mem:///" + UUID.randomUUID() + "?options=DB_CLOSE_DELAY=-1"));
		}

		@Bean
		DatabaseClient databaseClient(ConnectionFactory connectionFactory) {
			return DatabaseClient.create(connectionFactory);
		}

		@Bean
		Sales sales() {
			return new Sales();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Plain {

		@Bean
		R2dbcTransactionManager transactionManager(ConnectionFactory connectionFactory) {
			R2dbcTransactionManager manager = new R2dbcTransactionManager(connectionFactory);
			manager.setEnforceReadOnly(true);
			manager.addListener(new Listener());
			return manager;
		}

	}

	private static final class Listener implements TransactionExecutionListener {

	}

	@Configuration(proxyBeanMethods = false)
	static class Subclass {

		@Bean
		R2dbcTransactionManager transactionManager(ConnectionFactory connectionFactory) {
			return new R2dbcTransactionManager(connectionFactory) {
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Extended {

		@Bean
		R2dbcTransactionManager transactionManager(ConnectionFactory connectionFactory) {
			return new FencedR2dbcTransactionManager(new R2dbcFenceTable(connectionFactory)) {
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Fenced {

		@Bean
		FencedSales fencedSales() {
			return new FencedSales();
		}

	}

	static class Sales {

		private final AtomicInteger runs = new AtomicInteger();

		public int runs() {
			return this.runs.get();
		}

		@DistributedLock(name = "sale")
		@Transactional
		public Mono<Integer> sell() {
			return Mono.fromCallable(this.runs::incrementAndGet);
		}

	}

	static class FencedSales {

		@DistributedLock(name = "sale", transactionFencing = TransactionFencing.ON)
		@Transactional
		public Mono<Integer> sellFenced() {
			return Mono.just(1);
		}

		@DistributedLock(name = "sale", transactionFencing = TransactionFencing.OFF)
		@Transactional
		public Mono<Integer> sellUnfenced() {
			return Mono.just(1);
		}

		@DistributedLock(name = "sale")
		@Transactional
		public Mono<Integer> sell() {
			return Mono.just(1);
		}

	}

}
