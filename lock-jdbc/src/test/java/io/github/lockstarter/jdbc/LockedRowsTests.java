// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.QueryTimeoutException;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Place;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The transaction of an owner that has checked its lock takes longer than a statement
 * may.
 */
class LockedRowsTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(60);

	private static final JdbcLockSettings SETTINGS = TestDatabase.withQueryTimeout(Duration.ofSeconds(1));

	private final OwnerToken owner = OwnerToken.random();

	private final LockKey key = LockKey.of("locked-row", this.owner.value());

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void otherOwnersAreRefused(TestDatabase database) throws Exception {
		LeaseRequest free = new LeaseRequest(LockKey.of("unlocked-row", this.owner.value()), OwnerToken.random(),
				LEASE_TIME);
		try (HikariDataSource pool = database.pool(4);
				JdbcLockStore store = new JdbcLockStore(pool, SETTINGS);
				Connection transaction = database.unpooled().getConnection()) {
			StoreClient client = new StoreClient(store);
			client.acquire(this.key, this.owner, LEASE_TIME, false);
			transaction.setAutoCommit(false);
			assertThat(TestDatabase.commitCheck(pool).isHeld(transaction, this.key, this.owner)).isTrue();
			for (LockMode mode : LockMode.values()) {
				assertThat(client.acquire(this.key, OwnerToken.random(mode), LEASE_TIME, true)).as(mode.name())
					.isEqualTo(new LockRefusal(null));
			}
			assertThat(client.acquire(this.key, OwnerToken.random(), LEASE_TIME, false))
				.isInstanceOf(LockRefusal.class);
			assertThat(client.acquireAll(List.of(free, new LeaseRequest(this.key, OwnerToken.random(), LEASE_TIME))))
				.isEmpty();
			transaction.commit();
			assertThat(client.renew(this.key, this.owner, LEASE_TIME)).isTrue();
		}
	}

	/** The row of the lock does not exist yet. */
	@Test
	void aLockedTableIsAnOutage() throws Exception {
		LeaseRequest request = new LeaseRequest(this.key, this.owner, LEASE_TIME);
		try (HikariDataSource pool = TestDatabase.POSTGRESQL.pool(4);
				JdbcLockStore store = new JdbcLockStore(pool, SETTINGS);
				Connection transaction = TestDatabase.POSTGRESQL.unpooled().getConnection()) {
			transaction.setAutoCommit(false);
			new SqlSession(transaction, 1).update("lock table " + SETTINGS.table() + " in exclusive mode");
			assertThat(store.acquire(request, Place.NONE).toCompletableFuture()).failsWithin(Duration.ZERO)
				.withThrowableThat()
				.withCauseInstanceOf(QueryTimeoutException.class);
			transaction.rollback();
		}
	}

}
