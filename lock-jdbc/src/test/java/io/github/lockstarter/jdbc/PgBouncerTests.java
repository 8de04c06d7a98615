// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.servers.PgBouncer;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks behind a proxy that gives a connection to the server to another client after each
 * transaction.
 */
@FullProfileOnly
@EnabledIf("io.github.lockstarter.servers.PgBouncer#isInstalled")
class PgBouncerTests {

	private static PgBouncer proxy;

	@BeforeAll
	static void startProxy() {
		proxy = PgBouncer.start(TestDatabase.POSTGRESQL.url());
	}

	@AfterAll
	static void stopProxy() {
		proxy.close();
	}

	@Test
	void aWaiterLearnsOfTheReleaseWithoutMessages() throws Exception {
		LockRequest request = LockRequest.of("behind-proxy").withWaitTime(Duration.ofSeconds(20));
		try (HikariDataSource pool = TestDatabase.pool(proxy.url(), 5);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS);
				JdbcLockStore otherStore = new JdbcLockStore(pool, TestDatabase.SETTINGS);
				DefaultLockRegistry registry = new DefaultLockRegistry(store);
				DefaultLockRegistry other = new DefaultLockRegistry(otherStore)) {
			Lease lease = registry.acquire(request);
			Call<Long> waiter = Callers.start(() -> {
				try (Lease next = other.acquire(request)) {
					return next.fencingToken();
				}
			});
			Awaitility.await().until(() -> otherStore.signal().state() == SignalState.POLLING);
			lease.close();
			assertThat(waiter.get()).isGreaterThan(lease.fencingToken());
		}
	}

	/** The message of its test comes back on a pooled connection. */
	@Test
	void aMessageForAnotherStoreIsNotTakenForAnOwnOne() {
		try (HikariDataSource pool = TestDatabase.pool(proxy.url(), 5);
				JdbcLockStore first = new JdbcLockStore(pool, TestDatabase.SETTINGS);
				JdbcLockStore second = new JdbcLockStore(pool, TestDatabase.SETTINGS)) {
			LockKey key = LockKey.of("behind-proxy", "held");
			new StoreClient(first).acquire(key, OwnerToken.random(), Duration.ofMinutes(1), false);
			for (JdbcLockStore store : List.of(first, second)) {
				new StoreClient(store).acquire(key, OwnerToken.random(), Duration.ofMinutes(1), true);
				Awaitility.await().until(() -> store.signal().state() == SignalState.POLLING);
			}
		}
	}

}
