// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.lockstarter.LeaseContext;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.store.RowKey;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A commit under several locks, and a request for all of them, lock rows in the same
 * order, which need not be the one of the keys.
 */
class CommitOrderTests {

	private static final String LONG = "x".repeat(300);

	@Test
	void keysThatAreHashed() throws Exception {
		LockKey first = LockKey.of("long", LONG + 0);
		LockKey second = IntStream.range(1, 100)
			.mapToObj((number) -> LockKey.of("long", LONG + number))
			.filter((key) -> RowKey.of(key).compareTo(RowKey.of(first)) < 0)
			.findFirst()
			.orElseThrow();
		neitherWaitsForTheOther(first, second);
	}

	@Test
	void keysWithSpaces() throws Exception {
		neitherWaitsForTheOther(LockKey.of("spaces", "a b"), LockKey.of("spaces", "a!b"));
	}

	/** In another order, PostgreSQL rolls one of the transactions back. */
	private static void neitherWaitsForTheOther(LockKey first, LockKey second) throws Exception {
		assertThat(first.text()).isLessThan(second.text());
		assertThat(RowKey.of(first)).isGreaterThan(RowKey.of(second));
		JdbcLockSettings settings = TestDatabase.withQueryTimeout(Duration.ofSeconds(20));
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(5);
				HikariDataSource application = TestDatabase.POSTGRESQL.pool(2);
				JdbcLockStore store = new JdbcLockStore(pool, settings, application);
				DefaultLockRegistry registry = new DefaultLockRegistry(store);
				Connection request = TestDatabase.POSTGRESQL.unpooled().getConnection()) {
			request.setAutoCommit(false);
			TransactionTemplate transactions = new TransactionTemplate(new DataSourceTransactionManager(application));
			LockTemplate locks = new LockTemplate(registry);
			LockSetRequest both = LockSetRequest.of(LockRequest.of(first), LockRequest.of(second));
			Call<Boolean> commit = Callers.start(() -> locks.execute(both, (leases) -> {
				lock(request, second);
				transactions.executeWithoutResult((transaction) -> LeaseContext.ensureAllHeldAtCommit());
				return true;
			}));
			Awaitility.await().until(() -> TestDatabase.POSTGRESQL.waitsForRows() > 0);
			lock(request, first);
			request.commit();
			assertThat(commit.get()).isTrue();
		}
	}

	/** As a request for several locks does. */
	private static void lock(Connection connection, LockKey key) throws SQLException {
		new SqlSession(connection, 20).first("select 1 from distributed_lock where lock_key = ? for update",
				(row) -> true, RowKey.of(key));
	}

}
