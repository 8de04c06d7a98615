// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.servers.PostgresServer;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * A PostgreSQL server whose replica does not answer: no lease counts that the replica may
 * not know.
 */
@Tag("clock")
class SynchronousReplicationTests {

	private static final Duration LEASE_TIME = Duration.ofMinutes(1);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final OwnerToken owner = OwnerToken.random();

	@Test
	void aGrantThatNoReplicaHasIsNone() throws Exception {
		LockKey key = LockKey.of("replicated", "granted");
		try (PostgresServer postgres = PostgresServer.start();
				JdbcLockStore before = store(postgres);
				JdbcLockStore store = store(postgres, Duration.ofSeconds(1))) {
			StoreClient client = new StoreClient(before);
			client.acquire(key, this.owner, LEASE_TIME, true);
			client.release(key, this.owner);
			requireReplica(postgres);
			assertNotReplicated(() -> new StoreClient(store).acquire(key, this.owner, LEASE_TIME, true));
		}
	}

	/** Somebody waits for the row, and has it as soon as the grant has taken effect. */
	@Test
	@FullProfileOnly
	void aRefusalThatNoReplicaHasIsNone() throws Exception {
		LockKey key = LockKey.of("replicated", "wanted");
		try (PostgresServer postgres = PostgresServer.start();
				JdbcLockStore store = store(postgres);
				Connection other = postgres.open();
				Statement statement = other.createStatement()) {
			StoreClient client = new StoreClient(store);
			client.acquire(key, this.owner, LEASE_TIME, true);
			client.release(key, this.owner);
			requireReplica(postgres);
			Call<Object> grant = Callers.start(() -> client.acquire(key, this.owner, LEASE_TIME, true));
			Awaitility.await().until(() -> {
				try (ResultSet waiting = statement
					.executeQuery("select 1 from pg_stat_activity where wait_event = 'SyncRep'")) {
					return waiting.next();
				}
			});
			other.setAutoCommit(false);
			statement.execute("select 1 from distributed_lock for update");
			assertThatException().isThrownBy(grant::get).withStackTraceContaining("replication");
			other.rollback();
		}
	}

	@Test
	@FullProfileOnly
	void aRenewalThatNoReplicaHasIsNone() throws Exception {
		LockKey key = LockKey.of("replicated", "renewed");
		try (PostgresServer postgres = PostgresServer.start(); JdbcLockStore store = store(postgres)) {
			StoreClient client = new StoreClient(store);
			client.acquire(key, this.owner, LEASE_TIME, true);
			requireReplica(postgres);
			assertNotReplicated(() -> client.renew(key, this.owner, LEASE_TIME));
			assertThat(client.release(key, this.owner)).as("a release needs no replica").isTrue();
		}
	}

	/**
	 * Assert that a request fails because of the replica. It may also fail because its
	 * connection is given up, for which the machine may have stood still; then the next
	 * one tells.
	 */
	private static void assertNotReplicated(ThrowingCallable request) {
		Awaitility.await().atMost(PATIENCE).until(() -> {
			Throwable ex = catchThrowable(request);
			assertThat(ex).as("the request fails").isNotNull();
			return ex instanceof TransientDataAccessResourceException
					&& String.valueOf(ex.getMessage()).contains("replication");
		});
	}

	private static JdbcLockStore store(PostgresServer postgres) {
		TestDatabase.createTable(postgres.url());
		return store(postgres, Duration.ofSeconds(2));
	}

	private static JdbcLockStore store(PostgresServer postgres, Duration queryTimeout) {
		return new JdbcLockStore(new DriverManagerDataSource(postgres.url()),
				TestDatabase.withQueryTimeout(queryTimeout));
	}

	private static void requireReplica(PostgresServer postgres) throws SQLException {
		try (Connection connection = postgres.open(); Statement statement = connection.createStatement()) {
			statement.execute("alter system set synchronous_standby_names = 'nobody'");
			statement.execute("select pg_reload_conf()");
			statement.execute("set synchronous_commit = on");
			statement.setQueryTimeout(1);
			// Another process of the server decides when it begins
			AtomicInteger tables = new AtomicInteger();
			Awaitility.await().ignoreExceptions().until(() -> {
				statement.execute("create table replicated" + tables.incrementAndGet() + " ()");
				return statement.getWarnings() != null;
			});
		}
	}

}
