// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.RowKey;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.transaction.FenceTable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Rows of idle locks are deleted.
 */
@ExtendWith(OutputCaptureExtension.class)
class IdleRowsTests {

	private static final Duration LEASE_TIME = Duration.ofMinutes(1);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void fencingTokensGrowAlthoughTheRowWasDeleted(TestDatabase database) {
		idleRowsAreDeleted(database, null);
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "H2" })
	void standardSqlSuffices(TestDatabase database) {
		idleRowsAreDeleted(database, Dialect.GENERIC);
	}

	private static void idleRowsAreDeleted(TestDatabase database, Dialect dialect) {
		LockKey idle = LockKey.of("idle", database + "-" + dialect);
		LockKey held = LockKey.of("held", database + "-" + dialect);
		OwnerToken owner = OwnerToken.random();
		try (HikariDataSource pool = database.pool(3);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS, dialect)) {
			StoreClient client = new StoreClient(store);
			client.acquire(held, owner, LEASE_TIME, false);
			long before = ((AcquireResult.Grant) client.acquire(idle, owner, LEASE_TIME, false)).fencingBase();
			client.release(idle, owner);
			store.idleRows().tryDelete();
			assertThat(exists(database, idle)).isTrue();
			database.expire(idle);
			store.idleRows().tryDelete();
			assertThat(exists(database, idle)).isFalse();
			assertThat(exists(database, held)).isTrue();
			assertThat(
					((AcquireResult.Grant) client.acquire(idle, OwnerToken.random(), LEASE_TIME, false)).fencingBase())
				.isGreaterThan(before);
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aRowThatIsLeasedAgainMeanwhileIsKept(TestDatabase database) {
		LockKey key = LockKey.of("leased-again", database);
		OwnerToken next = OwnerToken.random();
		try (HikariDataSource pool = database.pool(3);
				JdbcLockStore otherStore = new JdbcLockStore(pool, TestDatabase.SETTINGS)) {
			StoreClient other = new StoreClient(otherStore);
			CountedStatements statements = new CountedStatements(pool) {

				@Override
				void count(String statement) {
					if (statement.startsWith("delete")) {
						other.acquire(key, next, LEASE_TIME, false);
					}
				}

			};
			try (JdbcLockStore store = new JdbcLockStore(statements, TestDatabase.SETTINGS)) {
				OwnerToken owner = OwnerToken.random();
				other.acquire(key, owner, LEASE_TIME, false);
				other.release(key, owner);
				database.expire(key);
				store.idleRows().tryDelete();
			}
			assertThat(exists(database, key)).isTrue();
			SafetyViolation.check(
					other.acquire(key, OwnerToken.random(), LEASE_TIME, false) instanceof AcquireResult.Refusal,
					"'%s' was granted while another owner has it", key);
		}
	}

	/** Another owner is in its transaction while the table of the claims is cleaned. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aClaimThatIsRepeatedMeanwhileIsKept(TestDatabase database) throws Exception {
		JdbcTemplate jdbc = database.jdbc();
		jdbc.update("insert into distributed_lock_fence values ('repeated', 1, 1)");
		try (Connection owner = database.unpooled().getConnection()) {
			owner.setAutoCommit(false);
			try (Statement claim = owner.createStatement()) {
				claim.executeUpdate("update distributed_lock_fence set token = 2, claimed_at = 9000000000000000"
						+ " where lock_key = 'repeated'");
			}
			CompletableFuture<Void> deletion = CompletableFuture
				.runAsync(() -> new FenceTable(database.unpooled()).require());
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> database.waitsForRows() > 0);
			owner.commit();
			deletion.join();
		}
		assertThat(jdbc.update("delete from distributed_lock_fence where lock_key = 'repeated' and token = 2")).isOne();
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aLargeTableIsReadInPagesAlsoAfterAFailure(TestDatabase database, CapturedOutput output) throws Exception {
		LockKey last = LockKey.of("zz-last-page", database);
		OwnerToken owner = OwnerToken.random();
		AtomicInteger deletions = new AtomicInteger();
		try (HikariDataSource pool = database.pool(3)) {
			// Rows that other tests have left may have become idle
			database.jdbc().update("delete from distributed_lock");
			fill(pool, 2 * IdleRows.PAGE + 10);
			CountedStatements statements = new CountedStatements(pool) {

				@Override
				void count(String statement) throws SQLException {
					if (statement.startsWith("delete") && deletions.incrementAndGet() == IdleRows.PAGE + 5) {
						throw new SQLTimeoutException("The first interruption");
					}
					super.count(statement);
				}

			};
			try (JdbcLockStore store = new JdbcLockStore(statements,
					TestDatabase.withFenceRetention(Duration.ofMinutes(5)))) {
				StoreClient client = new StoreClient(store);
				client.acquire(last, owner, LEASE_TIME, false);
				store.idleRows().tryDelete();
				assertThat(count(database)).isBetween(1L, (long) IdleRows.PAGE + 10);
				assertThat(output).contains("WARN").contains("The first interruption");
				statements.take();
				store.idleRows().tryDelete();
				assertThat(count(database)).isZero();
				assertThat(exists(database, last)).isTrue();
				assertThat(statements.take().stream().filter((statement) -> statement.startsWith("select lock_key")))
					.hasSizeGreaterThan(1)
					.allMatch((statement) -> statement.contains(String.valueOf(IdleRows.PAGE)));
			}
		}
	}

	/** The times of these rows are long ago. */
	private static void fill(DataSource source, int rows) throws SQLException {
		try (Connection connection = source.getConnection();
				PreparedStatement statement = connection
					.prepareStatement("insert into distributed_lock (lock_key, expires_at, fence) values (?, 1, 1)")) {
			for (int i = 0; i < rows; i++) {
				statement.setString(1, "page:" + (100000 + i));
				statement.addBatch();
			}
			connection.setAutoCommit(false);
			statement.executeBatch();
			connection.commit();
			connection.setAutoCommit(true);
		}
	}

	private static long count(TestDatabase database) {
		Long rows = database.jdbc()
			.queryForObject("select count(*) from distributed_lock where lock_key like 'page:%'", Long.class);
		return (rows != null) ? rows : 0;
	}

	private static boolean exists(TestDatabase database, LockKey key) {
		return !database.jdbc()
			.queryForList("select 1 from distributed_lock where lock_key = ?", RowKey.of(key))
			.isEmpty();
	}

}
