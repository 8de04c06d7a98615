// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.RowKey;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Another connection has inserted the row of a lock, and has not committed yet.
 */
class RowRaceTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(20);

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void theOtherTransactionDecides(boolean committed) throws Exception {
		LockKey key = LockKey.of("race", committed);
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(3);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.withQueryTimeout(LEASE_TIME));
				Connection other = TestDatabase.POSTGRESQL.unpooled().getConnection()) {
			StoreClient client = new StoreClient(store);
			other.setAutoCommit(false);
			insert(other, key);
			Call<Boolean> call = Callers.start(
					() -> client.acquire(key, OwnerToken.random(), LEASE_TIME, false) instanceof AcquireResult.Grant);
			Awaitility.await().until(() -> TestDatabase.POSTGRESQL.waitsForRows() > 0);
			if (committed) {
				other.commit();
			}
			else {
				other.rollback();
			}
			assertThat(call.get()).isNotEqualTo(committed);
		}
	}

	private static void insert(Connection connection, LockKey key) throws Exception {
		LockSql sql = new LockSql(Dialect.POSTGRESQL, true, TestDatabase.SETTINGS);
		try (PreparedStatement statement = connection.prepareStatement(sql.insertOwned())) {
			statement.setString(1, RowKey.of(key));
			statement.setString(2, "other");
			statement.setLong(3, LEASE_TIME.toNanos() / 1000);
			statement.executeUpdate();
		}
	}

}
