// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Place;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads want the same rows at the same time in different orders. The store locks
 * rows in one order, but transactions of the application need not.
 */
class DeadlockStormTests {

	private static final int THREADS = 12;

	private static final int ROUNDS = 10;

	private static final int LOCKS = 4;

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void renewalsAndCommitsOfTheSameRows(TestDatabase database) throws Exception {
		List<LeaseRequest> leases = IntStream.range(0, LOCKS)
			.mapToObj((number) -> new LeaseRequest(LockKey.of("renewed-" + database, number), OwnerToken.random(),
					Duration.ofMinutes(1)))
			.toList();
		AtomicBoolean refused = new AtomicBoolean();
		try (HikariDataSource pool = database.pool(20);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.withQueryTimeout(Duration.ofSeconds(20)))) {
			leases.forEach((lease) -> store.acquire(lease, Place.NONE).toCompletableFuture().join());
			run((thread, round) -> {
				List<LeaseRequest> order = new ArrayList<>(leases);
				Collections.rotate(order, thread + round);
				if (thread % 3 == 0) {
					commit(pool, leases.get(round % LOCKS), refused);
				}
				else {
					store.renew(order).forEach((renewed) -> assertThat(renewed.toCompletableFuture().join()).isTrue());
				}
			});
		}
		assertThat(refused).isFalse();
	}

	/**
	 * PostgreSQL rolls back whoever looks for a deadlock first, and the transaction looks
	 * too late.
	 */
	@Test
	@Tag("clock")
	void aRequestThatTheDatabaseRollsBackIsRepeated() throws Exception {
		List<LeaseRequest> leases = Stream.of(1, 2)
			.map((number) -> new LeaseRequest(LockKey.of("rolled-back", number), OwnerToken.random(),
					Duration.ofMinutes(1)))
			.toList();
		try (HikariDataSource pool = TestDatabase.pool(TestDatabase.POSTGRESQL.url() + "&options=-cdeadlock_timeout=3s",
				5);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.withQueryTimeout(Duration.ofSeconds(20)));
				Connection transaction = TestDatabase.POSTGRESQL.unpooled().getConnection()) {
			JdbcCommitCheck check = new JdbcCommitCheck(pool,
					new LockDatabase(pool, TestDatabase.withQueryTimeout(Duration.ofSeconds(20)), null));
			leases.forEach((lease) -> store.acquire(lease, Place.NONE).toCompletableFuture().join());
			long before = deadlocks();
			transaction.setAutoCommit(false);
			new SqlSession(transaction, 1).first("select set_config('deadlock_timeout', '1h', false)", (row) -> true);
			assertThat(check.isHeld(transaction, leases.get(1).key(), leases.get(1).owner())).isTrue();
			StoreClient client = new StoreClient(store);
			Call<Boolean> request = Callers.start(() -> !client.acquireAll(leases).isEmpty());
			Awaitility.await().until(() -> TestDatabase.POSTGRESQL.waitsForRows() > 0);
			assertThat(check.isHeld(transaction, leases.get(0).key(), leases.get(0).owner())).isTrue();
			transaction.commit();
			assertThat(request.get()).isTrue();
			Awaitility.await().until(() -> deadlocks() > before);
		}
	}

	private static long deadlocks() {
		return TestDatabase.POSTGRESQL.jdbc()
			.queryForObject("select deadlocks from pg_stat_database where datname = current_database()", Long.class);
	}

	private static void commit(HikariDataSource pool, LeaseRequest lease, AtomicBoolean refused) throws Exception {
		try (Connection connection = pool.getConnection()) {
			connection.setAutoCommit(false);
			if (!TestDatabase.commitCheck(pool).isHeld(connection, lease.key(), lease.owner())) {
				refused.set(true);
			}
			connection.commit();
		}
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
