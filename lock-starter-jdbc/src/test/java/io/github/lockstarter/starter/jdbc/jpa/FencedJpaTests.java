// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.jdbc.jpa;

import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PreUpdate;
import jakarta.persistence.Transient;
import org.hibernate.SessionFactory;
import org.hibernate.stat.Statistics;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.servers.SharedServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Fenced transactions of JPA: Spring Boot's defaults, Hibernate and PostgreSQL. The pool
 * has one connection, so one that stays behind would be the last.
 */
class FencedJpaTests {

	private static final String URL = SharedServers.postgres();

	private static final JdbcClient looking = JdbcClient.create(new DriverManagerDataSource(URL));

	private static final Map<String, ConfigurableApplicationContext> started = new HashMap<>();

	@AfterAll
	static void stop() {
		started.values().forEach(ConfigurableApplicationContext::close);
	}

	private static void with(Connections connections, int size, Consumer<ConfigurableApplicationContext> test) {
		ConfigurableApplicationContext context = started.computeIfAbsent(connections + " " + size,
				(key) -> start(connections, size));
		looking.sql("delete from distributed_lock_fence").update();
		looking.sql("delete from item").update();
		looking.sql("delete from log").update();
		looking.sql("insert into item (id, count) values (1, 10)").update();
		test.accept(context);
		assertThat(pool(context).getActiveConnections()).isZero();
		assertThat(openSessions(context)).isZero();
	}

	private static ConfigurableApplicationContext start(Connections connections, int size) {
		return new SpringApplicationBuilder(Application.class)
			.properties("distributed-lock.store=memory", "distributed-lock.fencing.transactions=true",
					"distributed-lock.fencing.initialize-schema=always", "spring.flyway.enabled=false",
					"spring.datasource.url=" + URL, "spring.datasource.hikari.maximum-pool-size=" + size,
					"spring.datasource.hikari.connection-timeout=10000", "spring.jpa.hibernate.ddl-auto=update",
					"spring.jpa.properties.hibernate.generate_statistics=true")
			.properties(connections.properties)
			.run();
	}

	private static HikariPoolMXBean pool(ConfigurableApplicationContext context) {
		try {
			return context.getBean(DataSource.class).unwrap(HikariDataSource.class).getHikariPoolMXBean();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static long openSessions(ConfigurableApplicationContext context) {
		Statistics statistics = context.getBean(EntityManagerFactory.class)
			.unwrap(SessionFactory.class)
			.getStatistics();
		return statistics.getSessionOpenCount() - statistics.getSessionCloseCount();
	}

	private static int count() {
		return looking.sql("select count from item").query(Integer.class).single();
	}

	private static int claims() {
		return looking.sql("select count(*) from distributed_lock_fence").query(Integer.class).single();
	}

	private static void laterOwnersClaim() {
		assertThat(looking.sql("update distributed_lock_fence set token = ?").param(Long.MAX_VALUE).update()).isOne();
	}

	private static void assertRefused(Supplier<?> call) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(call::get)
			.withMessageContaining("a later owner has claimed");
	}

	@ParameterizedTest
	@EnumSource
	void theClaimIsPartOfTheTransaction(Connections connections) {
		with(connections, 1, (context) -> {
			Stock stock = context.getBean(Stock.class);
			assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(stock::takeAndFail);
			assertThat(claims()).isZero();
			assertThat(stock.take()).isEqualTo(9);
			assertThat(claims()).isOne();
			assertThat(count()).isEqualTo(9);
		});
	}

	@ParameterizedTest
	@EnumSource
	void aLateOwnerIsRefusedBeforeItReads(Connections connections) {
		with(connections, 1, (context) -> {
			Stock stock = context.getBean(Stock.class);
			stock.take();
			laterOwnersClaim();
			int reads = stock.reads;
			for (int i = 0; i < 3; i++) {
				assertRefused(stock::take);
				assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
				assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isFalse();
			}
			assertThat(stock.reads).isEqualTo(reads);
			assertThat(count()).isEqualTo(9);
		});
	}

	/** As open-in-view binds one for a web request. */
	@Test
	void anOpenPersistenceContextSurvivesARefusal() {
		with(Connections.DEFAULT, 1, (context) -> {
			Stock stock = context.getBean(Stock.class);
			stock.take();
			laterOwnersClaim();
			EntityManagerFactory factory = context.getBean(EntityManagerFactory.class);
			try (EntityManager open = factory.createEntityManager()) {
				EntityManagerHolder holder = new EntityManagerHolder(open);
				TransactionSynchronizationManager.bindResource(factory, holder);
				for (int i = 0; i < 3; i++) {
					assertRefused(stock::take);
				}
				assertThat(TransactionSynchronizationManager.unbindResource(factory)).isSameAs(holder);
				assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
				assertThat(open.getTransaction().isActive()).isFalse();
				assertThat(open.find(Item.class, 1L).count).isEqualTo(9);
			}
		});
	}

	@Test
	void whatIsWrittenAtTheCommitIsInsideOfTheClaim() {
		with(Connections.DEFAULT, 1, (context) -> {
			Stock stock = context.getBean(Stock.class);
			stock.take();
			stock.takeAndWatchTheClaim();
			assertThat(stock.claimWasFree).isFalse();
			assertThat(count()).isEqualTo(8);
		});
	}

	@Test
	void anInnerTransactionDoesNotWaitForItsOuterOne() {
		with(Connections.DEFAULT, 2, (context) -> {
			Stock stock = context.getBean(Stock.class);
			CompletableFuture.runAsync(stock::takeAndLog).orTimeout(60, TimeUnit.SECONDS).join();
			assertThat(count()).isEqualTo(9);
			assertThat(looking.sql("select count(*) from log").query(Integer.class).single()).isOne();
		});
	}

	@Test
	void aTransactionThatOnlyReadsFetchesNoConnection() {
		with(Connections.LAZY, 1, (context) -> {
			assertThat(context.getBean(DataSource.class)).isInstanceOf(LazyConnectionDataSourceProxy.class);
			HikariPoolMXBean pool = pool(context);
			assertThat(context.getBean(Stock.class).read(pool::getActiveConnections)).isZero();
		});
	}

	enum Connections {

		DEFAULT,

		WITHOUT_AUTO_COMMIT("spring.datasource.hikari.auto-commit=false",
				"spring.jpa.properties.hibernate.connection.provider_disables_autocommit=true"),

		LAZY("spring.datasource.connection-fetch=lazy");

		private final String[] properties;

		Connections(String... properties) {
			this.properties = properties;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ Stock.class, Journal.class })
	static class Application {

	}

	static class Stock {

		private final EntityManager entityManager;

		private final Journal journal;

		volatile int reads;

		volatile boolean claimWasFree;

		Stock(EntityManager entityManager, Journal journal) {
			this.entityManager = entityManager;
			this.journal = journal;
		}

		@DistributedLock(name = "stock")
		@Transactional
		public int take() {
			return --item().count;
		}

		@DistributedLock(name = "stock")
		@Transactional
		public int takeAndFail() {
			take();
			this.entityManager.flush();
			throw new IllegalArgumentException("rolled back");
		}

		@DistributedLock(name = "stock")
		@Transactional
		public void takeAndWatchTheClaim() {
			Item item = item();
			item.count--;
			item.atFlush = () -> this.claimWasFree = !looking
				.sql("select token from distributed_lock_fence for update skip locked")
				.query(Long.class)
				.list()
				.isEmpty();
		}

		@DistributedLock(name = "stock")
		@Transactional
		public void takeAndLog() {
			take();
			this.journal.add();
		}

		@DistributedLock(name = "stock")
		@Transactional(readOnly = true)
		public <T> T read(Supplier<T> meanwhile) {
			return meanwhile.get();
		}

		private Item item() {
			this.reads++;
			return this.entityManager.find(Item.class, 1L);
		}

	}

	static class Journal {

		private final EntityManager entityManager;

		Journal(EntityManager entityManager) {
			this.entityManager = entityManager;
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void add() {
			this.entityManager.persist(new Entry());
		}

	}

	@Entity(name = "item")
	static class Item {

		@Id
		private Long id;

		private int count;

		@Transient
		private Runnable atFlush = () -> {
		};

		@PreUpdate
		void flushed() {
			this.atFlush.run();
		}

	}

	@Entity(name = "log")
	static class Entry {

		@Id
		private Long id = 1L;

	}

}
