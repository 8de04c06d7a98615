// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.UnusableStoreException;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The store and the connections of its application.
 */
@ExtendWith(OutputCaptureExtension.class)
class ConnectionsTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(20);

	private final OwnerToken owner = OwnerToken.random();

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void locksAreNoPartOfTheTransactionOfTheCaller(TestDatabase database) {
		LockKey key = LockKey.of("transaction", database);
		try (HikariDataSource pool = database.pool(4);
				JdbcLockStore store = new JdbcLockStore(new TransactionAwareDataSourceProxy(pool),
						TestDatabase.SETTINGS)) {
			StoreClient client = new StoreClient(store);
			JdbcTemplate jdbc = new JdbcTemplate(pool);
			jdbc.execute("create table if not exists stock (quantity int)");
			new TransactionTemplate(new DataSourceTransactionManager(pool)).executeWithoutResult((transaction) -> {
				jdbc.update("insert into stock values (1)");
				Connection bound = DataSourceUtils.getConnection(pool);
				assertThat(client.acquire(key, this.owner, LEASE_TIME, false)).isInstanceOf(AcquireResult.Grant.class);
				assertThat(client.acquire(key, OwnerToken.random(LockMode.READ), LEASE_TIME, false))
					.isInstanceOf(AcquireResult.Refusal.class);
				assertThat(DataSourceUtils.getConnection(pool)).isSameAs(bound);
				transaction.setRollbackOnly();
			});
			assertThat(client.renew(key, this.owner, LEASE_TIME)).isTrue();
			assertThat(jdbc.queryForObject("select count(*) from stock", Long.class)).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void connectionsThatDoNotCommitByThemselvesStaySo(TestDatabase database) throws Exception {
		LockKey key = LockKey.of("autocommit", database);
		try (HikariDataSource pool = database.pool(2)) {
			pool.setAutoCommit(false);
			try (JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS)) {
				StoreClient client = new StoreClient(store);
				client.acquire(key, this.owner, LEASE_TIME, false);
				client.acquire(key, OwnerToken.random(LockMode.READ), LEASE_TIME, false);
			}
			try (Connection connection = pool.getConnection();
					JdbcLockStore other = new JdbcLockStore(database.unpooled(), TestDatabase.SETTINGS)) {
				assertThat(connection.getAutoCommit()).isFalse();
				assertThat(new StoreClient(other).renew(key, this.owner, LEASE_TIME)).isTrue();
			}
		}
	}

	/** After a failover, the connections of a pool may lead to a replica. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, set session characteristics as transaction read only",
			"MARIADB, set session transaction read only" })
	void connectionsToAServerThatMayNotWriteAreReplacedAtOnce(TestDatabase database, String demotion) throws Exception {
		LockKey key = LockKey.of("replica", database);
		try (HikariDataSource pool = database.pool(4)) {
			List<Connection> open = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				open.add(pool.getConnection());
				new SqlSession(open.get(i), 1).execute(demotion);
			}
			for (Connection connection : open) {
				connection.close();
			}
			try (JdbcLockStore store = new JdbcLockStore(new DelegatingDataSource(pool), TestDatabase.SETTINGS)) {
				StoreClient client = new StoreClient(store);
				assertThat(client.acquire(key, this.owner, LEASE_TIME, false)).isInstanceOf(AcquireResult.Grant.class);
				assertThat(client.renew(key, this.owner, LEASE_TIME)).isTrue();
				assertThat(pool.getHikariPoolMXBean().getTotalConnections()).isLessThan(4);
			}
		}
	}

	/** A pool would take the refusal for a broken connection, with a stack trace. */
	@Test
	void aDriverThatCannotLimitSilenceServesTheFirstRequestAndIsNotLogged(CapturedOutput output) {
		try (HikariDataSource pool = TestDatabase.pool("jdbc:hsqldb:mem:silence", 2)) {
			DatabasePopulatorUtils.execute(new ResourceDatabasePopulator(new DefaultResourceLoader()
				.getResource(JdbcLockSchema.LOCATION.replace("@@platform@@", "generic"))), pool);
			try (JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS)) {
				LockKey key = LockKey.of("silence");
				StoreClient client = new StoreClient(store);
				assertThat(client.acquire(key, this.owner, LEASE_TIME, false)).isInstanceOf(AcquireResult.Grant.class);
				assertThat(client.release(key, this.owner)).isTrue();
			}
		}
		assertThat(output).doesNotContain("marked as broken");
	}

	/** The first connection of a JVM may take longer than a pool lets a request wait. */
	@Test
	void theFirstConnectionIsAwaitedThoughThePoolGivesUpWaitingForIt() {
		AtomicInteger slow = new AtomicInteger(1);
		DataSource source = new DelegatingDataSource(TestDatabase.H2.unpooled()) {

			@Override
			public Connection getConnection() throws SQLException {
				if (slow.getAndDecrement() > 0) {
					throw new SQLTransientConnectionException("Connection is not available, request timed out");
				}
				return super.getConnection();
			}

		};
		try (JdbcLockStore store = new JdbcLockStore(source, TestDatabase.SETTINGS);
				DefaultLockRegistry registry = new DefaultLockRegistry(store)) {
			registry.acquire(LockRequest.of(LockKey.of("first")).withWaitTime(Duration.ZERO)).close();
		}
	}

	@Test
	void aDatabaseThatWasNeverReachedIsNamedWithoutSecrets() {
		DataSource source = new LazyConnectionDataSourceProxy(new DriverManagerDataSource(
				"jdbc:mariadb://me:secret@127.0.0.1:1/shop?password=secret", "me", "secret"));
		try (JdbcLockStore store = new JdbcLockStore(source, TestDatabase.SETTINGS)) {
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> store.connect().toCompletableFuture().join());
			assertThat(store.address()).isEqualTo("jdbc:mariadb://127.0.0.1:1/shop");
		}
	}

	@Test
	void callersWaitForOneAttemptToConnect() {
		AtomicInteger attempts = new AtomicInteger();
		DataSource source = new DriverManagerDataSource() {

			@Override
			public Connection getConnection() throws SQLException {
				attempts.incrementAndGet();
				throw new SQLTransientConnectionException("Connection is not available, request timed out");
			}

		};
		try (JdbcLockStore store = new JdbcLockStore(source, TestDatabase.SETTINGS)) {
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> store.connect().toCompletableFuture().join());
		}
		assertThat(attempts).hasValue(1);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aMissingTableIsNamed(TestDatabase database) {
		JdbcLockSettings settings = new JdbcLockSettings("missing", Duration.ofSeconds(2), false, true,
				Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofHours(1));
		try (JdbcLockStore store = new JdbcLockStore(database.unpooled(), settings)) {
			StoreClient client = new StoreClient(store);
			assertThatExceptionOfType(UnusableStoreException.class)
				.isThrownBy(() -> client.acquire(LockKey.of("table"), this.owner, LEASE_TIME, false))
				.withMessageContaining("table 'missing'");
		}
	}

}
