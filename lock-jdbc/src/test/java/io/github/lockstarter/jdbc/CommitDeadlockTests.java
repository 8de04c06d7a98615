// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.RowKey;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The check of a lock at the commit ends in a deadlock with another transaction.
 */
class CommitDeadlockTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	private static final JdbcLockSettings SETTINGS = TestDatabase.withQueryTimeout(Duration.ofSeconds(20));

	private static final String CHANGE = "update " + SETTINGS.table() + " set fence = fence + 1 where lock_key = ?";

	private final OwnerToken owner = OwnerToken.random();

	private final LockKey one = LockKey.of("deadlock-1", this.owner.value());

	private final LockKey two = LockKey.of("deadlock-2", this.owner.value());

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "POSTGRESQL", "MARIADB" })
	void theTransactionMayBeTriedAgain(TestDatabase database) throws Exception {
		try (HikariDataSource pool = database.pool(3);
				JdbcLockStore store = new JdbcLockStore(pool, SETTINGS);
				Connection connection = database.unpooled().getConnection()) {
			StoreClient client = new StoreClient(store);
			client.acquire(this.one, this.owner, LEASE_TIME, false);
			client.acquire(this.two, this.owner, LEASE_TIME, false);
			connection.setAutoCommit(false);
			SqlSession other = new SqlSession(connection, 20);
			if (database == TestDatabase.POSTGRESQL) {
				// Whoever looks for a deadlock first is rolled back
				other.first("select set_config('deadlock_timeout', '1h', false)", (row) -> true);
			}
			// MariaDB rolls the transaction back that has changed less
			other.update(CHANGE, RowKey.of(this.one));
			TransactionTemplate transactions = new TransactionTemplate(new DataSourceTransactionManager(pool));
			transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
			JdbcCommitCheck check = new JdbcCommitCheck(pool, new LockDatabase(pool, SETTINGS, null));
			Call<Integer> change = transactions.execute((transaction) -> {
				transaction.setRollbackOnly();
				assertThat(check.isHeld(this.two, this.owner)).isTrue();
				Call<Integer> call = Callers.start(() -> other.update(CHANGE, RowKey.of(this.two)));
				Awaitility.await().until(() -> database.waitsForRows() == 1);
				assertThatExceptionOfType(CannotAcquireLockException.class)
					.isThrownBy(() -> check.isHeld(this.one, this.owner))
					.withMessageContaining("deadlock")
					.withMessageContaining("may be tried again")
					.withMessageNotContaining("READ COMMITTED");
				return call;
			});
			assertThat(change.get()).isOne();
			connection.rollback();
		}
	}

}
