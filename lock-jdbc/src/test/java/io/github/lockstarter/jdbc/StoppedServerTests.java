// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.servers.PostgresServer;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * All processes of the server stop for a while, and go on as if nothing had happened.
 */
@Tag("clock")
class StoppedServerTests {

	private static final LockRequest REQUEST = LockRequest.of("stopped").withWaitTime(Duration.ofSeconds(25));

	@Test
	@FullProfileOnly
	void aServerThatStopsForAWhileLosesNoLock() throws Exception {
		try (PostgresServer server = PostgresServer.start();
				HikariDataSource pool = TestDatabase.pool(server.url(), 5);
				HikariDataSource otherPool = TestDatabase.pool(server.url(), 5);
				JdbcLockStore store = new JdbcLockStore(pool, JdbcLockSettings.DEFAULTS);
				JdbcLockStore otherStore = new JdbcLockStore(otherPool, JdbcLockSettings.DEFAULTS);
				DefaultLockRegistry registry = new DefaultLockRegistry(store);
				DefaultLockRegistry other = new DefaultLockRegistry(otherStore)) {
			// As in an application, so that renewals do not wait for the whole lease
			pool.setConnectionTimeout(2000);
			otherPool.setConnectionTimeout(2000);
			TestDatabase.createTable(server.url());
			Lease lease = registry.acquire(REQUEST);
			server.pause();
			Call<Lease> refused = Callers.start(() -> other.acquire(REQUEST));
			try {
				assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(refused::get);
			}
			finally {
				server.resume();
			}
			assertThat(lease.isHeld()).isTrue();
			Optional<Lease> second = Awaitility.await()
				.ignoreExceptions()
				.until(() -> other.tryAcquire(REQUEST.withWaitTime(Duration.ZERO)), Objects::nonNull);
			SafetyViolation.check(second.isEmpty() || !lease.isHeld(), "two owners of %s", REQUEST.key());
			List<Call<Long>> waiters = List.of(waiter(registry), waiter(other));
			lease.close();
			for (Call<Long> waiter : waiters) {
				long token = waiter.get();
				SafetyViolation.check(token > lease.fencingToken(), "token %s after %s", token, lease.fencingToken());
			}
		}
	}

	private static Call<Long> waiter(DefaultLockRegistry registry) {
		return Callers.start(() -> {
			try (Lease lease = registry.acquire(REQUEST)) {
				return lease.fencingToken();
			}
		});
	}

}
