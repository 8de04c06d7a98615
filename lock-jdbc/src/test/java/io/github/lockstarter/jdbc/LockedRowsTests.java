// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.QueryTimeoutException;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Place;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.store.RowKey;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The transaction of an owner that has checked its lock takes longer than a statement
 * may.
 */
class LockedRowsTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final JdbcLockSettings SETTINGS = TestDatabase.withQueryTimeout(Duration.ofSeconds(1));

	private final OwnerToken owner = OwnerToken.random();

	private final LockKey key = LockKey.of("locked-row", this.owner.value());

	@Test
	@Tag("clock")
	void otherOwnersAreRefused() throws Exception {
		assertOtherOwnersAreRefused(TestDatabase.POSTGRESQL);
	}

	@Tag("clock")
	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "MARIADB", "H2" })
	void otherOwnersAreRefusedByOthers(TestDatabase database) throws Exception {
		assertOtherOwnersAreRefused(database);
	}

	private void assertOtherOwnersAreRefused(TestDatabase database) throws Exception {
		LeaseRequest free = new LeaseRequest(LockKey.of("unlocked-row", this.owner.value()), OwnerToken.random(),
				LEASE_TIME);
		try (HikariDataSource pool = database.pool(4);
				JdbcLockStore store = new JdbcLockStore(pool, SETTINGS);
				Connection transaction = database.unpooled().getConnection()) {
			StoreClient client = new StoreClient(store);
			client.acquire(this.key, this.owner, LEASE_TIME, false);
			transaction.setAutoCommit(false);
			TestDatabase.lockRow(transaction, this.key);
			assertThat(answer(() -> client.acquire(this.key, OwnerToken.random(), LEASE_TIME, true)))
				.isEqualTo(new LockRefusal(null));
			assertThat(answer(() -> client.acquire(this.key, OwnerToken.random(), LEASE_TIME, false)))
				.isInstanceOf(LockRefusal.class);
			assertThat(answer(() -> client
				.acquireAll(List.of(free, new LeaseRequest(this.key, OwnerToken.random(), LEASE_TIME))))).isEmpty();
			transaction.commit();
			assertThat(client.renew(this.key, this.owner, LEASE_TIME)).isTrue();
		}
	}

	/**
	 * Ask until there is an answer, whatever it is: the connection is given up a second
	 * after the statement, for which the machine may have stood still.
	 */
	private static <T> T answer(Callable<T> request) {
		return Awaitility.await().atMost(PATIENCE).ignoreExceptions().until(request, (answer) -> true);
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "POSTGRESQL", "MARIADB" })
	void releasesOfTheirLocksDelayNoRenewal(TestDatabase database) throws Exception {
		OwnerToken reader = OwnerToken.random(LockMode.READ);
		LockKey read = LockKey.of("read-row", this.owner.value());
		LockKey kept = LockKey.of("kept-row", this.owner.value());
		LockKey other = LockKey.of("other-row", this.owner.value());
		try (HikariDataSource acquiring = database.pool(4);
				HikariDataSource owned = database.pool(2);
				JdbcLockStore store = new JdbcLockStore(acquiring, owned,
						TestDatabase.withQueryTimeout(Duration.ofSeconds(20)));
				Connection transaction = database.unpooled().getConnection()) {
			StoreClient client = new StoreClient(store);
			client.acquire(this.key, this.owner, LEASE_TIME, false);
			client.acquire(read, reader, LEASE_TIME, false);
			client.acquire(kept, this.owner, LEASE_TIME, false);
			client.acquire(other, this.owner, LEASE_TIME, false);
			transaction.setAutoCommit(false);
			for (LockKey locked : List.of(this.key, read, kept)) {
				new SqlSession(transaction, 1).first("select 1 from distributed_lock where lock_key = ? for update",
						(row) -> true, RowKey.of(locked));
			}
			Call<ReleaseOutcome> release = Callers.start(() -> client.release(this.key, this.owner, null));
			Call<ReleaseOutcome> releaseOfReader = Callers.start(() -> client.release(read, reader, null));
			Call<Boolean> keeping = Callers.start(() -> client.keep(kept, this.owner, LEASE_TIME));
			Awaitility.await().until(() -> database.waitsForRows() == 1);
			assertThat(client.renew(other, this.owner, LEASE_TIME)).isTrue();
			assertThat(client.release(other, this.owner, null)).isEqualTo(ReleaseOutcome.RELEASED);
			transaction.rollback();
			assertThat(release.get()).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(releaseOfReader.get()).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(keeping.get()).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource(value = TestDatabase.class, names = { "POSTGRESQL", "MARIADB" })
	void aRenewalWaitsForItsRowWhileAReleaseDoes(TestDatabase database) throws Exception {
		LockKey renewed = LockKey.of("renewed-row", this.owner.value());
		try (HikariDataSource acquiring = database.pool(4);
				HikariDataSource owned = database.pool(3);
				JdbcLockStore store = new JdbcLockStore(acquiring, owned,
						TestDatabase.withQueryTimeout(Duration.ofSeconds(20)));
				Connection transaction = database.unpooled().getConnection()) {
			StoreClient client = new StoreClient(store);
			client.acquire(this.key, this.owner, LEASE_TIME, false);
			client.acquire(renewed, this.owner, LEASE_TIME, false);
			transaction.setAutoCommit(false);
			for (LockKey locked : List.of(this.key, renewed)) {
				new SqlSession(transaction, 1).first("select 1 from distributed_lock where lock_key = ? for update",
						(row) -> true, RowKey.of(locked));
			}
			Call<ReleaseOutcome> release = Callers.start(() -> client.release(this.key, this.owner, null));
			Awaitility.await().until(() -> database.waitsForRows() == 1);
			Call<Boolean> renewal = Callers.start(() -> client.renew(renewed, this.owner, LEASE_TIME));
			Awaitility.await().until(() -> database.waitsForRows() == 2);
			transaction.rollback();
			assertThat(release.get()).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(renewal.get()).isTrue();
		}
	}

	/** The row of the lock does not exist yet. */
	@Test
	@Tag("clock")
	void aLockedTableIsAnOutage() throws Exception {
		LeaseRequest request = new LeaseRequest(this.key, this.owner, LEASE_TIME);
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(4);
				JdbcLockStore store = new JdbcLockStore(pool, SETTINGS);
				Connection transaction = TestDatabase.POSTGRESQL.unpooled().getConnection()) {
			transaction.setAutoCommit(false);
			new SqlSession(transaction, 1).update("lock table " + SETTINGS.table() + " in exclusive mode");
			Awaitility.await().atMost(PATIENCE).until(() -> {
				CompletableFuture<LockAttempt> attempt = store.acquire(request, Place.NONE).toCompletableFuture();
				assertThat(attempt).failsWithin(Duration.ZERO);
				// Else the connection was given up, for which the machine may have stood
				// still
				return attempt.handle((answer, ex) -> ex instanceof QueryTimeoutException).join();
			});
			transaction.rollback();
		}
	}

}
