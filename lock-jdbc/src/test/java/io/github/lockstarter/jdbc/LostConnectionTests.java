// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.servers.ServerProcess;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The server ends connections of the store, or answers no more.
 */
@Tag("clock")
class LostConnectionTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	/** The shortest that drivers know. */
	private static final JdbcLockSettings IMPATIENT = TestDatabase.withQueryTimeout(Duration.ofSeconds(1));

	private final LockKey key = LockKey.of("lost-connection");

	private final OwnerToken owner = OwnerToken.random();

	@Test
	void aKilledConnectionLosesNoLockAndMessagesArriveAgain() {
		Messages messages = new Messages();
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(5);
				HikariDataSource otherPool = TestDatabase.POSTGRESQL.pool(5);
				JdbcLockStore store = new JdbcLockStore(pool, JdbcLockSettings.DEFAULTS);
				JdbcLockStore otherStore = new JdbcLockStore(otherPool, JdbcLockSettings.DEFAULTS)) {
			StoreClient holder = new StoreClient(store);
			StoreClient waiter = new StoreClient(otherStore);
			holder.acquire(this.key, this.owner, LEASE_TIME, false);
			assertThat(waiter.listen(messages)).isTrue();
			assertRefused(waiter.acquire(this.key, OwnerToken.random(), LEASE_TIME, true));
			Awaitility.await().until(() -> otherStore.signal().state() == SignalState.NOTIFIED);
			int doubts = messages.doubts.get();
			killConnections();
			Awaitility.await().ignoreExceptions().until(() -> holder.renew(this.key, this.owner, LEASE_TIME));
			Awaitility.await().until(() -> messages.doubts.get() >= doubts + 2 && waiter.listen(messages));
			Awaitility.await().until(() -> otherStore.signal().state() == SignalState.NOTIFIED);
			assertRefused(waiter.acquire(this.key, OwnerToken.random(), LEASE_TIME, true));
			holder.release(this.key, this.owner);
			Awaitility.await().until(() -> messages.heard.contains(this.key));
		}
	}

	/** Only the driver can notice that. */
	@Test
	void aRequestToASilentServerEndsWithinSeconds() throws Exception {
		LockKey silent = LockKey.of("lost-connection", "silent");
		try (HikariDataSource pool = TestDatabase.pool(TestDatabase.POSTGRESQL.url() + "&ApplicationName=silent", 1);
				JdbcLockStore patient = new JdbcLockStore(TestDatabase.POSTGRESQL.unpooled(), TestDatabase.SETTINGS);
				JdbcLockStore store = new JdbcLockStore(pool, IMPATIENT)) {
			new StoreClient(patient).acquire(silent, this.owner, LEASE_TIME, false);
			StoreClient client = new StoreClient(store);
			Awaitility.await().ignoreExceptions().until(() -> client.renew(silent, this.owner, LEASE_TIME));
			int server = TestDatabase.POSTGRESQL.jdbc()
				.queryForObject("select pid from pg_stat_activity where application_name = 'silent'", Integer.class);
			ServerProcess.signal("STOP", server);
			try {
				assertThat(Callers.start(() -> store.renew(List.of(new LeaseRequest(silent, this.owner, LEASE_TIME))))
					.get()
					.get(0)
					.toCompletableFuture()).isCompletedExceptionally();
			}
			finally {
				ServerProcess.signal("CONT", server);
			}
			Awaitility.await().ignoreExceptions().until(() -> client.renew(silent, this.owner, LEASE_TIME));
		}
	}

	/** The connection was lost after the pool had tested it. */
	@Test
	void messagesArriveAlthoughTheServerWasSilentAtFirst() throws Exception {
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(5);
				FirstSilent source = new FirstSilent(pool);
				JdbcLockStore store = new JdbcLockStore(source, IMPATIENT)) {
			Messages messages = new Messages();
			LockKey held = LockKey.of("lost-connection", "held");
			try (JdbcLockStore other = new JdbcLockStore(pool, TestDatabase.SETTINGS)) {
				new StoreClient(other).acquire(held, this.owner, LEASE_TIME, false);
			}
			StoreClient waiter = new StoreClient(store);
			waiter.listen(messages);
			assertRefused(Awaitility.await()
				.ignoreExceptions()
				.until(() -> waiter.acquire(held, OwnerToken.random(), LEASE_TIME, true), Objects::nonNull));
			Awaitility.await().until(() -> store.signal().state() == SignalState.NOTIFIED);
			assertThat(source.silent).isNotNull();
		}
	}

	private static void assertRefused(AcquireResult attempt) {
		SafetyViolation.check(attempt instanceof AcquireResult.Refusal, "%s while another owner has the lock", attempt);
	}

	private static void killConnections() {
		TestDatabase.POSTGRESQL.jdbc()
			.queryForList("select pg_terminate_backend(pid) from pg_stat_activity"
					+ " where pid <> pg_backend_pid() and datname = current_database()");
	}

	/**
	 * Connections of which the first one for messages gets no answers.
	 */
	private static final class FirstSilent extends DelegatingDataSource implements AutoCloseable {

		private volatile @Nullable Long silent;

		FirstSilent(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			Connection connection = super.getConnection();
			if (this.silent == null && Thread.currentThread().getName().startsWith("lock-signal-")) {
				this.silent = new SqlSession(connection, 1).first("select pg_backend_pid()", (row) -> row.getLong(1));
				ServerProcess.signal("STOP", this.silent);
			}
			return connection;
		}

		@Override
		public void close() {
			if (this.silent != null) {
				ServerProcess.signal("CONT", this.silent);
			}
		}

	}

}
