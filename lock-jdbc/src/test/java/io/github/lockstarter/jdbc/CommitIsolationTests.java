// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A lease is renewed during a transaction, at different levels of isolation.
 */
class CommitIsolationTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(20);

	private final OwnerToken owner = OwnerToken.random();

	private final LockKey key = LockKey.of("isolated", this.owner.value());

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void thatDoesNotMatterAtReadCommitted(TestDatabase database) throws SQLException {
		assertThat(isHeldAfterRenewal(database, Connection.TRANSACTION_READ_COMMITTED)).isTrue();
	}

	/** As the documentation says. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, 40001, 0", "MARIADB, HY000, 1020", "H2, 40001, 40001" })
	void itFailsTheTransactionAtRepeatableRead(TestDatabase database, String state, int code) {
		assertThatExceptionOfType(SQLException.class)
			.isThrownBy(() -> isHeldAfterRenewal(database, Connection.TRANSACTION_REPEATABLE_READ))
			.satisfies((ex) -> assertThat(ex.getSQLState()).isEqualTo(state))
			.satisfies((ex) -> assertThat(ex.getErrorCode()).isEqualTo(code));
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void soDoesARequestOfAWaiter(TestDatabase database) throws SQLException {
		OwnerToken waiter = OwnerToken.random();
		try (HikariDataSource pool = database.pool(3);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS);
				Connection transaction = begin(database, Connection.TRANSACTION_REPEATABLE_READ)) {
			StoreClient client = new StoreClient(store);
			client.acquire(this.key, this.owner, LEASE_TIME, false);
			client.acquire(this.key, waiter, LEASE_TIME, true);
			new SqlSession(transaction, 2).first("select count(*) from " + TestDatabase.SETTINGS.table(),
					(row) -> true);
			client.acquire(this.key, waiter, LEASE_TIME, true);
			assertThatExceptionOfType(SQLException.class)
				.isThrownBy(() -> TestDatabase.commitCheck(pool).isHeld(transaction, this.key, this.owner))
				.matches(SqlErrors::isConcurrency);
			transaction.rollback();
		}
	}

	/** An old state of the row has no owner, or there was none. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, true", "POSTGRESQL, false", "MARIADB, true" })
	void aLockThatWasAcquiredAfterTheFirstQueryDoesNotLookLost(TestDatabase database, boolean usedBefore)
			throws SQLException {
		try (HikariDataSource pool = database.pool(3);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS);
				Connection transaction = begin(database, Connection.TRANSACTION_REPEATABLE_READ)) {
			StoreClient client = new StoreClient(store);
			if (usedBefore) {
				OwnerToken before = OwnerToken.random();
				client.acquire(this.key, before, LEASE_TIME, false);
				client.release(this.key, before, null);
			}
			new SqlSession(transaction, 2).first("select count(*) from " + TestDatabase.SETTINGS.table(),
					(row) -> true);
			client.acquire(this.key, this.owner, LEASE_TIME, false);
			assertThatExceptionOfType(SQLException.class)
				.isThrownBy(() -> TestDatabase.commitCheck(pool).isHeld(transaction, this.key, this.owner))
				.matches(SqlErrors::isConcurrency);
			transaction.rollback();
		}
	}

	private boolean isHeldAfterRenewal(TestDatabase database, int level) throws SQLException {
		try (HikariDataSource pool = database.pool(3);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS);
				Connection transaction = begin(database, level)) {
			StoreClient client = new StoreClient(store);
			client.acquire(this.key, this.owner, LEASE_TIME, false);
			new SqlSession(transaction, 2).first("select count(*) from " + TestDatabase.SETTINGS.table(),
					(row) -> true);
			assertThat(client.renew(this.key, this.owner, LEASE_TIME)).isTrue();
			boolean held = TestDatabase.commitCheck(pool).isHeld(transaction, this.key, this.owner);
			transaction.rollback();
			return held;
		}
	}

	private static Connection begin(TestDatabase database, int level) throws SQLException {
		Connection transaction = database.unpooled().getConnection();
		if (database == TestDatabase.MARIADB) {
			// The default since version 11.6
			new SqlSession(transaction, 2).update("set session innodb_snapshot_isolation = on");
		}
		transaction.setTransactionIsolation(level);
		transaction.setAutoCommit(false);
		return transaction;
	}

}
