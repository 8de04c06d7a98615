// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.CommitCheck;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The check at the commit of a transaction in the database of its lock.
 */
class JdbcCommitCheckTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(20);

	private final OwnerToken owner = OwnerToken.random();

	private final OwnerToken late = OwnerToken.random();

	private final LockKey key = LockKey.of("checked", this.owner.value());

	private HikariDataSource own;

	private HikariDataSource application;

	private JdbcLockStore store;

	private JdbcCommitCheck check;

	@AfterEach
	void close() {
		this.store.close();
		this.own.close();
		this.application.close();
	}

	private StoreClient use(TestDatabase database) {
		this.own = database.pool(5);
		this.application = database.pool(2);
		this.store = new JdbcLockStore(this.own, TestDatabase.withQueryTimeout(LEASE_TIME), this.application);
		this.check = TestDatabase.commitCheck(this.application);
		return new StoreClient(this.store);
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTransactionInTheDatabaseIsChecked(TestDatabase database) {
		use(database).acquire(this.key, this.owner, LEASE_TIME, false);
		inTransaction(this.application, () -> {
			assertThat(check().isHeld(this.key, this.owner)).isTrue();
			assertThat(check().isHeld(this.key, this.late)).isFalse();
		});
	}

	/** A transaction manager looks through the proxy. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTransactionOfAProxyIsChecked(TestDatabase database) {
		use(database);
		DataSource proxy = new TransactionAwareDataSourceProxy(this.application);
		JdbcCommitCheck check = TestDatabase.commitCheck(proxy);
		inTransaction(proxy, () -> assertThat(check.isHeld(this.key, this.late)).isFalse());
	}

	/** The database would refuse to lock a row, and so the transaction. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTransactionThatOnlyReadsIsNot(TestDatabase database) {
		use(database);
		TransactionTemplate reading = new TransactionTemplate(new DataSourceTransactionManager(this.application));
		reading.setReadOnly(true);
		reading.executeWithoutResult((transaction) -> {
			assertThat(check().isHeld(this.key, this.late)).isTrue();
			assertThat(new JdbcTemplate(this.application).queryForObject("select 1", Integer.class)).isOne();
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTransactionElsewhereIsNot(TestDatabase database) {
		use(database);
		assertThat(check().isHeld(this.key, this.late)).isTrue();
		inTransaction(this.own, () -> assertThat(check().isHeld(this.key, this.late)).isTrue());
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void onlyTheOwnerCommits(TestDatabase database) throws SQLException {
		StoreClient client = use(database);
		assertThat(isOwner(this.owner)).isFalse();
		client.acquire(this.key, this.owner, LEASE_TIME, false);
		assertThat(isOwner(this.owner)).isTrue();
		assertThat(isOwner(this.late)).isFalse();
		client.keep(this.key, this.owner, LEASE_TIME);
		assertThat(isOwner(this.owner)).isFalse();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void everyReaderCommits(TestDatabase database) throws SQLException {
		StoreClient client = use(database);
		OwnerToken reader = OwnerToken.random(LockMode.READ);
		client.acquire(this.key, OwnerToken.random(LockMode.READ), LEASE_TIME, false);
		assertThat(isOwner(reader)).isFalse();
		client.acquire(this.key, reader, LEASE_TIME, false);
		assertThat(isOwner(reader)).isTrue();
	}

	/** On H2 readers commit one after another. */
	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "POSTGRESQL", "MARIADB" })
	void readersCommitAtTheSameTime(TestDatabase database) throws SQLException {
		StoreClient client = use(database);
		OwnerToken one = OwnerToken.random(LockMode.READ);
		OwnerToken other = OwnerToken.random(LockMode.READ);
		client.acquire(this.key, one, LEASE_TIME, false);
		client.acquire(this.key, other, LEASE_TIME, false);
		try (Connection first = transaction(); Connection second = transaction()) {
			assertThat(this.check.isHeld(first, this.key, one)).isTrue();
			assertThat(this.check.isHeld(second, this.key, other)).isTrue();
			first.commit();
			second.commit();
		}
	}

	/** On H2 the limit of a statement is one of its connection. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void theApplicationHasNoNewLimitOfTime(TestDatabase database) throws SQLException {
		use(database).acquire(this.key, this.owner, LEASE_TIME, false);
		try (Connection connection = transaction()) {
			try (Statement statement = connection.createStatement()) {
				statement.setQueryTimeout(50);
			}
			int before = limit(connection);
			assertThat(this.check.isHeld(connection, this.key, this.owner)).isTrue();
			assertThat(limit(connection)).isEqualTo(before);
			connection.rollback();
		}
	}

	/** Neither the clock nor the lease matters. */
	@Test
	void anotherOwnerTakesAnExpiredLockOverAfterTheCommitOnly() throws Exception {
		StoreClient client = use(TestDatabase.POSTGRESQL);
		AtomicBoolean committed = new AtomicBoolean();
		client.acquire(this.key, this.owner, LEASE_TIME, false);
		TestDatabase.POSTGRESQL.expire(this.key);
		try (Connection connection = transaction()) {
			assertThat(this.check.isHeld(connection, this.key, this.owner)).isTrue();
			Call<Boolean> call = Callers
				.start(() -> client.acquire(this.key, this.late, LEASE_TIME, false) instanceof LockGrant
						&& committed.get());
			Awaitility.await().until(() -> TestDatabase.POSTGRESQL.waitsForRows() > 0);
			committed.set(true);
			connection.commit();
			assertThat(call.get()).isTrue();
		}
		assertThat(isOwner(this.owner)).isFalse();
		assertThat(isOwner(this.late)).isTrue();
	}

	private CommitCheck check() {
		return this.store.commitCheck().orElseThrow();
	}

	private static void inTransaction(DataSource dataSource, Runnable body) {
		new TransactionTemplate(new DataSourceTransactionManager(dataSource))
			.executeWithoutResult((transaction) -> body.run());
	}

	private boolean isOwner(OwnerToken owner) throws SQLException {
		try (Connection connection = transaction()) {
			boolean held = this.check.isHeld(connection, this.key, owner);
			connection.rollback();
			return held;
		}
	}

	private Connection transaction() throws SQLException {
		Connection connection = this.application.getConnection();
		connection.setAutoCommit(false);
		return connection;
	}

	private static int limit(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			return statement.getQueryTimeout();
		}
	}

}
