// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.RowKey;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads want the same rows at the same time in different orders. The store locks
 * rows in one order, but other programs need not.
 */
class DeadlockStormTests {

	private static final int THREADS = 12;

	private static final int ROUNDS = 10;

	private static final int LOCKS = 4;

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void renewalsAndRequestsOfTheSameRows(TestDatabase database) throws Exception {
		List<LeaseRequest> leases = IntStream.range(0, LOCKS)
			.mapToObj((number) -> new LeaseRequest(LockKey.of("renewed-" + database, number), OwnerToken.random(),
					Duration.ofMinutes(1)))
			.toList();
		try (HikariDataSource pool = database.pool(20);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS)) {
			StoreClient client = new StoreClient(store);
			leases.forEach((lease) -> acquire(client, lease));
			run((thread, round) -> {
				List<LeaseRequest> order = new ArrayList<>(leases);
				Collections.rotate(order, thread + round);
				if (thread % 3 == 0) {
					order.forEach((lease) -> acquire(client, lease));
				}
				else {
					store.renew(order).forEach((renewed) -> assertThat(renewed.toCompletableFuture().join()).isTrue());
				}
			});
		}
	}

	/**
	 * MariaDB ends a deadlock at once, and rolls the transaction back that has changed
	 * less.
	 */
	@Test
	void aTransactionThatTheDatabaseRollsBackIsRepeated() throws Exception {
		List<LockKey> keys = Stream.of(1, 2).map((number) -> LockKey.of("rolled-back", number)).toList();
		try (HikariDataSource pool = TestDatabase.MARIADB.pool(5);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS);
				Connection other = TestDatabase.MARIADB.unpooled().getConnection()) {
			StoreClient client = new StoreClient(store);
			keys.forEach((key) -> acquire(client, new LeaseRequest(key, OwnerToken.random(), Duration.ofMinutes(1))));
			LockDatabase database = new LockDatabase(pool, TestDatabase.SETTINGS, null);
			AtomicInteger attempts = new AtomicInteger();
			other.setAutoCommit(false);
			change(other, keys.get(1));
			Call<Integer> transaction = Callers.start(() -> database.transaction((session, sql) -> {
				attempts.incrementAndGet();
				for (LockKey key : keys) {
					session.first(sql.selectForUpdate(), (row) -> key, RowKey.of(key));
				}
				return attempts.get();
			}));
			Awaitility.await().until(() -> TestDatabase.MARIADB.waitsForRows() > 0);
			// Without the end of the other one, this would wait until its time is over
			change(other, keys.get(0));
			other.commit();
			assertThat(transaction.get()).isEqualTo(2);
		}
	}

	private static void acquire(StoreClient client, LeaseRequest lease) {
		assertThat(client.acquire(lease.key(), lease.owner(), lease.leaseTime(), false))
			.isInstanceOf(AcquireResult.Grant.class);
	}

	private static void change(Connection transaction, LockKey key) throws SQLException {
		assertThat(new SqlSession(transaction, 5)
			.update("update distributed_lock set fence = fence + 1 where lock_key = ?", RowKey.of(key))).isOne();
	}

	private static void run(Body body) throws Exception {
		List<Call<Integer>> calls = new ArrayList<>();
		for (int thread = 0; thread < THREADS; thread++) {
			int number = thread;
			calls.add(Callers.start(() -> {
				for (int round = 0; round < ROUNDS; round++) {
					body.run(number, round);
				}
				return ROUNDS;
			}));
		}
		for (Call<Integer> call : calls) {
			assertThat(call.get()).isEqualTo(ROUNDS);
		}
	}

	/**
	 * What a thread does repeatedly.
	 */
	@FunctionalInterface
	private interface Body {

		void run(int thread, int round) throws Exception;

	}

}
