// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * The connection for messages is open while a JVM waits for a lock, and is tested.
 */
@Tag("clock")
@ExtendWith(OutputCaptureExtension.class)
class ReleaseSignalTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	private static final SignalTimes QUICK = new SignalTimes(Duration.ofMillis(1), Duration.ofSeconds(5),
			Duration.ofMillis(100), Duration.ofMinutes(1), SignalTimes.DEFAULTS.reaction());

	@Test
	void theDatabaseIsHeardOnlyWhileSomebodyWaits() throws Exception {
		LockKey key = LockKey.of("release-signal", "waited");
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(5);
				JdbcLockStore holding = new JdbcLockStore(TestDatabase.POSTGRESQL.unpooled(), TestDatabase.SETTINGS);
				JdbcLockStore store = store(pool)) {
			Messages messages = new Messages();
			StoreClient waiter = new StoreClient(store);
			assertThat(waiter.listen(messages)).isTrue();
			OwnerToken own = OwnerToken.random();
			assertThat(waiter.acquire(key, own, LEASE_TIME, true)).isInstanceOf(AcquireResult.Grant.class);
			waiter.release(key, own);
			assertThat(store.signal().state()).isEqualTo(SignalState.IDLE);
			assertThat(store.waitingLine().isListening()).isEmpty();
			assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
			StoreClient holder = new StoreClient(holding);
			OwnerToken owner = OwnerToken.random();
			holder.acquire(key, owner, LEASE_TIME, false);
			waiter.acquire(key, own, LEASE_TIME, true);
			Awaitility.await().until(() -> store.waitingLine().isListening().orElse(false));
			assertThat(store.signal().state()).isEqualTo(SignalState.NOTIFIED);
			Awaitility.await().until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 1);
			int open = pool.getHikariPoolMXBean().getTotalConnections();
			waiter.withdraw(key);
			Awaitility.await().until(() -> store.signal().state() == SignalState.IDLE);
			Awaitility.await().until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
			assertThat(pool.getHikariPoolMXBean().getTotalConnections()).isGreaterThanOrEqualTo(open);
			for (int i = 0; i < open; i++) {
				Connection connection = pool.getConnection();
				assertThat(new SqlSession(connection, 1).all("select pg_listening_channels()", (row) -> 1)).isEmpty();
				assertThat(connection.getNetworkTimeout()).isZero();
			}
			holder.release(key, owner);
		}
	}

	@Test
	void theEndOfAStoreThatListensBreaksNoConnection() {
		LockKey key = LockKey.of("release-signal", "closed");
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(5);
				JdbcLockStore holding = new JdbcLockStore(TestDatabase.POSTGRESQL.unpooled(), TestDatabase.SETTINGS);
				JdbcLockStore store = store(pool)) {
			StoreClient waiter = new StoreClient(store);
			waiter.listen(new Messages());
			new StoreClient(holding).acquire(key, OwnerToken.random(), LEASE_TIME, false);
			waiter.acquire(key, OwnerToken.random(), LEASE_TIME, true);
			Awaitility.await().until(() -> store.signal().state() == SignalState.NOTIFIED);
			int open = pool.getHikariPoolMXBean().getTotalConnections();
			store.close();
			assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
			assertThat(pool.getHikariPoolMXBean().getTotalConnections()).isGreaterThanOrEqualTo(open);
		}
	}

	@Test
	void noMessageIsLostWhileTheConnectionOpens() {
		LockKey key = LockKey.of("release-signal", "opens");
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(5);
				JdbcLockStore holding = new JdbcLockStore(pool, TestDatabase.SETTINGS);
				JdbcLockStore store = store(pool)) {
			Messages messages = new Messages();
			StoreClient holder = new StoreClient(holding);
			StoreClient waiter = new StoreClient(store);
			waiter.listen(messages);
			for (int i = 0; i < 30; i++) {
				OwnerToken owner = OwnerToken.random();
				OwnerToken next = OwnerToken.random();
				holder.acquire(key, owner, LEASE_TIME, false);
				waiter.acquire(key, next, LEASE_TIME, true);
				holder.release(key, owner);
				Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> messages.heard.contains(key));
				messages.heard.clear();
				assertThat(waiter.acquire(key, next, LEASE_TIME, true)).isInstanceOf(AcquireResult.Grant.class);
				waiter.release(key, next);
			}
			assertThat(messages.doubts).hasValue(0);
		}
	}

	@Test
	void aSlowTestDoesNotEndTheMessagesForGood(CapturedOutput output) {
		LockKey key = LockKey.of("release-signal", "slow");
		AtomicBoolean slow = new AtomicBoolean(true);
		AtomicInteger tests = new AtomicInteger();
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(5)) {
			CountedStatements source = new CountedStatements(pool) {

				@Override
				String replace(String statement) throws SQLException {
					if (statement.contains("pg_notify") && slow.get()) {
						tests.incrementAndGet();
						return statement.replace("(?, ?)", "(?, 'too late for ' || ?)");
					}
					return statement;
				}

			};
			try (JdbcLockStore holding = new JdbcLockStore(pool, TestDatabase.SETTINGS);
					JdbcLockStore store = store(source, new SignalTimes(QUICK.idle(), Duration.ofMillis(500),
							QUICK.untested(), QUICK.waited(), QUICK.reaction()))) {
				OwnerToken owner = OwnerToken.random();
				Messages messages = new Messages();
				StoreClient holder = new StoreClient(holding);
				StoreClient waiter = new StoreClient(store);
				holder.acquire(key, owner, LEASE_TIME, false);
				waiter.listen(messages);
				waiter.acquire(key, OwnerToken.random(), LEASE_TIME, true);
				Awaitility.await().until(() -> tests.get() > 1);
				assertThat(waiter.listen(messages)).isTrue();
				assertThat(store.waitingLine().isListening()).hasValue(false);
				slow.set(false);
				Awaitility.await().until(() -> store.signal().state() == SignalState.NOTIFIED);
				assertThat(output.toString().split("has sent no message")).hasSize(2);
				holder.release(key, owner);
				Awaitility.await().until(() -> messages.heard.contains(key));
			}
		}
	}

	@Test
	void aWaiterThatCannotWithdrawIsForgotten() {
		LockKey key = LockKey.of("release-signal", "forgotten");
		AtomicBoolean down = new AtomicBoolean();
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(5)) {
			CountedStatements source = new CountedStatements(pool) {

				@Override
				void count(String statement) throws SQLException {
					if (down.get()) {
						throw new SQLNonTransientConnectionException("down");
					}
				}

			};
			SignalTimes shortWait = new SignalTimes(QUICK.idle(), QUICK.test(), QUICK.untested(),
					Duration.ofMillis(500), QUICK.reaction());
			try (JdbcLockStore holding = new JdbcLockStore(pool, TestDatabase.SETTINGS);
					JdbcLockStore store = store(source, shortWait)) {
				StoreClient waiter = new StoreClient(store);
				waiter.listen(new Messages());
				OwnerToken own = OwnerToken.random();
				new StoreClient(holding).acquire(key, OwnerToken.random(), LEASE_TIME, false);
				Awaitility.await().until(() -> {
					// The time for which it counts as waiting begins anew
					waiter.acquire(key, own, LEASE_TIME, true);
					return store.signal().state() == SignalState.NOTIFIED;
				});
				down.set(true);
				assertThatException().isThrownBy(() -> waiter.withdraw(key));
				down.set(false);
				Awaitility.await().until(() -> store.signal().state() == SignalState.IDLE);
			}
		}
	}

	@Test
	void messagesArriveAgainAfterAnError() {
		AtomicInteger errors = new AtomicInteger(1);
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(5)) {
			CountedStatements source = new CountedStatements(pool) {

				@Override
				void count(String statement) {
					if (statement.startsWith("select lock_key, line") && errors.getAndDecrement() > 0) {
						throw new OutOfMemoryError("in a test");
					}
				}

			};
			try (JdbcLockStore store = store(source)) {
				Messages messages = new Messages();
				StoreClient client = new StoreClient(store);
				client.listen(messages);
				waitForALock(client, LockKey.of("release-signal", "error"));
				Awaitility.await().until(() -> messages.doubts.get() == 2);
				Awaitility.await().until(() -> store.signal().state() == SignalState.NOTIFIED);
			}
		}
	}

	/** As after a failover that the connection survives. */
	@Test
	void aConnectionToWhichNobodySendsAnyMoreIsReplaced() {
		LockKey key = LockKey.of("release-signal", "moved");
		String promoted = SharedServers.postgres();
		TestDatabase.createTable(promoted);
		try (HikariDataSource former = TestDatabase.POSTGRESQL.pool(5);
				HikariDataSource next = TestDatabase.pool(promoted, 5)) {
			AtomicReference<DataSource> primary = new AtomicReference<>(former);
			DelegatingDataSource source = new DelegatingDataSource() {

				@Override
				public DataSource getTargetDataSource() {
					return primary.get();
				}

			};
			try (JdbcLockStore holding = new JdbcLockStore(next, TestDatabase.SETTINGS);
					JdbcLockStore store = store(source)) {
				Messages messages = new Messages();
				StoreClient waiter = new StoreClient(store);
				waiter.listen(messages);
				waitForALock(waiter, key);
				Awaitility.await().until(() -> store.signal().state() == SignalState.NOTIFIED);
				int doubts = messages.doubts.get();
				primary.set(next);
				Awaitility.await().until(() -> messages.doubts.get() >= doubts + 2);
				Awaitility.await().until(() -> store.signal().state() == SignalState.NOTIFIED);
				OwnerToken owner = OwnerToken.random();
				StoreClient holder = new StoreClient(holding);
				holder.acquire(key, owner, LEASE_TIME, false);
				waiter.acquire(key, OwnerToken.random(), LEASE_TIME, true);
				holder.release(key, owner);
				Awaitility.await().until(() -> messages.heard.contains(key));
			}
		}
	}

	private static void waitForALock(StoreClient client, LockKey key) {
		client.acquire(key, OwnerToken.random(), LEASE_TIME, false);
		client.acquire(key, OwnerToken.random(), LEASE_TIME, true);
	}

	private static JdbcLockStore store(DataSource source) {
		return store(source, QUICK);
	}

	private static JdbcLockStore store(DataSource source, SignalTimes times) {
		return new JdbcLockStore(source, source, TestDatabase.SETTINGS, null, times);
	}

}
