// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holders and waiters cost while nothing happens.
 */
class WaitingCostTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	private static final int LOCKS = 50;

	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, NOTIFIED, 1", "MARIADB, POLLING, 0", "H2, POLLING, 0" })
	void noConnectionIsInUseExceptThatForMessages(TestDatabase database, SignalState waiting, int connections)
			throws Exception {
		LockRequest request = LockRequest.of("connections", database).withWaitTime(Duration.ofSeconds(30));
		try (HikariDataSource pool = database.pool(5);
				HikariDataSource otherPool = database.pool(5);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS);
				JdbcLockStore otherStore = new JdbcLockStore(otherPool, TestDatabase.SETTINGS);
				DefaultLockRegistry registry = new DefaultLockRegistry(store);
				DefaultLockRegistry other = new DefaultLockRegistry(otherStore)) {
			Lease lease = registry.acquire(request);
			assertThat(inUse(pool)).isZero();
			List<Call<Long>> waiters = new ArrayList<>();
			for (int i = 0; i < 10; i++) {
				waiters.add(Callers.start(() -> {
					try (Lease next = other.acquire(request)) {
						return next.fencingToken();
					}
				}));
			}
			Awaitility.await().until(() -> otherStore.signal().state() == waiting);
			Awaitility.await().until(() -> inUse(otherPool) == connections);
			assertThat(lease.isHeld()).isTrue();
			assertThat(inUse(pool)).isZero();
			lease.close();
			for (Call<Long> waiter : waiters) {
				assertThat(waiter.get()).isGreaterThan(lease.fencingToken());
			}
		}
	}

	private static int inUse(HikariDataSource pool) {
		return pool.getHikariPoolMXBean().getActiveConnections();
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "H2" })
	void oneQueryPollsForAllLocks(TestDatabase database) {
		List<LockKey> keys = IntStream.range(0, LOCKS).mapToObj((i) -> LockKey.of("polled-" + database, i)).toList();
		try (HikariDataSource pool = database.pool(5)) {
			CountedStatements statements = new CountedStatements(pool);
			try (JdbcLockStore holding = new JdbcLockStore(pool, TestDatabase.SETTINGS);
					JdbcLockStore waiting = new JdbcLockStore(statements, TestDatabase.SETTINGS)) {
				StoreClient holder = new StoreClient(holding);
				StoreClient waiter = new StoreClient(waiting);
				keys.forEach((key) -> holder.acquire(key, OwnerToken.random(), LEASE_TIME, false));
				assertThat(keys)
					.allSatisfy((key) -> assertThat(waiter.acquire(key, OwnerToken.random(), LEASE_TIME, true))
						.isInstanceOf(AcquireResult.Refusal.class));
				Awaitility.await().until(() -> statements.take().size() == 1);
				List<String> polls = new ArrayList<>();
				Awaitility.await().until(() -> polls.addAll(statements.take()) && polls.size() > 5);
				assertThat(polls).allMatch((poll) -> poll.startsWith("select lock_key, line"))
					.allMatch((poll) -> poll.chars().filter((each) -> each == '?').count() >= LOCKS);
			}
		}
	}

}
