// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.QueryTimeoutException;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Another program has locked rows, or the table.
 */
class LockedRowsTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final JdbcLockSettings SETTINGS = TestDatabase.withQueryTimeout(Duration.ofSeconds(1));

	private final OwnerToken owner = OwnerToken.random();

	private final LockKey key = LockKey.of("locked-row", this.owner.value());

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void onlyRenewalsOfTheirLocksWait(TestDatabase database) throws Exception {
		List<LeaseRequest> requests = IntStream.rangeClosed(1, 6).mapToObj(this::request).toList();
		// Each lease time has a row that is locked and one that is not
		List<LeaseRequest> longer = IntStream.range(0, 6)
			.mapToObj((i) -> new LeaseRequest(requests.get(i).key(), requests.get(i).owner(),
					LEASE_TIME.multipliedBy((i < 3) ? 2 : 3)))
			.toList();
		try (HikariDataSource pool = database.pool(4);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.SETTINGS);
				Connection transaction = database.unpooled().getConnection()) {
			requests.forEach((request) -> store.acquire(request, false));
			transaction.setAutoCommit(false);
			for (LeaseRequest locked : requests.subList(1, 5)) {
				TestDatabase.lockRow(transaction, locked.key());
			}
			long first = database.expiresAt(requests.get(0).key());
			long last = database.expiresAt(requests.get(5).key());
			Call<List<Boolean>> renewal = Callers.start(
					() -> store.renew(longer).stream().map((answer) -> answer.toCompletableFuture().join()).toList());
			Awaitility.await().until(() -> database.waitsForRows() == 1);
			assertThat(database.expiresAt(requests.get(0).key())).isGreaterThan(first);
			assertThat(database.expiresAt(requests.get(5).key())).isGreaterThan(last);
			transaction.rollback();
			assertThat(renewal.get()).hasSize(6).containsOnly(true);
		}
	}

	private LeaseRequest request(int number) {
		OwnerToken owner = (number == 2) ? OwnerToken.random(LockMode.READ) : OwnerToken.random();
		return new LeaseRequest(LockKey.of("locked-row-" + number, this.owner.value()), owner, LEASE_TIME);
	}

	/** Its request still waits for the row then, and is given back later. */
	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	@Tag("clock")
	void aCallerDoesNotWaitForTheRowAfterItsWaitTime(TestDatabase database) throws Exception {
		LockRequest request = LockRequest.of(this.key).withWaitTime(Duration.ofMillis(100));
		try (HikariDataSource pool = database.pool(4)) {
			CountedStatements statements = new CountedStatements(pool);
			try (JdbcLockStore store = new JdbcLockStore(statements, TestDatabase.SETTINGS);
					JdbcLockStore otherStore = new JdbcLockStore(pool, TestDatabase.SETTINGS);
					DefaultLockRegistry registry = new DefaultLockRegistry(store);
					DefaultLockRegistry other = new DefaultLockRegistry(otherStore);
					Connection transaction = database.unpooled().getConnection()) {
				registry.acquire(request.withWaitTime(PATIENCE)).close();
				transaction.setAutoCommit(false);
				TestDatabase.lockRow(transaction, this.key);
				statements.take();
				assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> registry.acquire(request));
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> registry.acquire(request.withWaitTime(Duration.ZERO)));
				assertThat(registry.acquireAsync(request)).failsWithin(PATIENCE)
					.withThrowableThat()
					.withCauseInstanceOf(LockUnavailableException.class);
				assertThat(database.waitsForRows()).isOne();
				assertThat(statements.take()).hasSize(1);
				transaction.rollback();
				other.acquire(request.withWaitTime(PATIENCE)).close();
			}
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	@Tag("clock")
	void aCallerOfSeveralLocksDoesNotWaitForTheRowEither(TestDatabase database) throws Exception {
		List<LockRequest> request = List.of(LockRequest.of(this.key).withWaitTime(Duration.ofMillis(100)),
				LockRequest.of("locked-row-free", this.owner.value()));
		try (HikariDataSource pool = database.pool(4)) {
			CountedStatements statements = new CountedStatements(pool);
			try (JdbcLockStore store = new JdbcLockStore(statements, TestDatabase.SETTINGS);
					DefaultLockRegistry registry = new DefaultLockRegistry(store);
					Connection transaction = database.unpooled().getConnection()) {
				registry.acquire(LockRequest.of(this.key)).close();
				transaction.setAutoCommit(false);
				TestDatabase.lockRow(transaction, this.key);
				statements.take();
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> registry.acquireAll(request));
				assertThat(statements.take()).isNotEmpty().doesNotContain("rollback");
				transaction.rollback();
				Awaitility.await().atMost(PATIENCE).ignoreExceptions().until(() -> {
					registry.acquireAll(request).close();
					return true;
				});
			}
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
				CompletableFuture<AcquireResult> attempt = store.acquire(request, false).toCompletableFuture();
				assertThat(attempt).failsWithin(Duration.ZERO);
				// Else the connection was given up, for which the machine may have stood
				// still
				return attempt.handle((answer, ex) -> ex instanceof QueryTimeoutException).join();
			});
			transaction.rollback();
		}
	}

}
