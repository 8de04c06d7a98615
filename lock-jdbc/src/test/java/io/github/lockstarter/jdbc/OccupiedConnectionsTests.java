// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests for locks occupy all their connections.
 */
class OccupiedConnectionsTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(20);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void ownersRenewAndReleaseOnConnectionsOfTheirOwn(TestDatabase database) throws Exception {
		OwnerToken writer = OwnerToken.random();
		OwnerToken reader = OwnerToken.random(LockMode.READ);
		OwnerToken keeper = OwnerToken.random();
		try (HikariDataSource acquiring = database.pool(1);
				HikariDataSource owned = database.pool(2);
				JdbcLockStore store = new JdbcLockStore(acquiring, owned, TestDatabase.SETTINGS)) {
			StoreClient client = new StoreClient(store);
			client.acquire(key(database, "written"), writer, LEASE_TIME, false);
			client.acquire(key(database, "read"), reader, LEASE_TIME, false);
			client.acquire(key(database, "kept"), keeper, LEASE_TIME, false);
			Call<AcquireResult> other;
			acquiring.setConnectionTimeout(60_000);
			try (Connection occupied = acquiring.getConnection()) {
				assertThat(occupied.isClosed()).isFalse();
				other = Callers
					.start(() -> client.acquire(key(database, "other"), OwnerToken.random(), LEASE_TIME, false))
					.awaitParked();
				assertThat(client.renew(key(database, "written"), writer, LEASE_TIME)).isTrue();
				assertThat(client.renew(key(database, "read"), reader, LEASE_TIME)).isTrue();
				assertThat(client.release(key(database, "written"), writer)).isTrue();
				assertThat(client.release(key(database, "read"), reader)).isTrue();
				assertThat(client.keep(key(database, "kept"), keeper, Duration.ofSeconds(1))).isTrue();
				assertThat(other.result()).isNotDone();
			}
			assertThat(other.get()).isInstanceOf(AcquireResult.Grant.class);
			assertThat(client.acquire(key(database, "read"), writer, LEASE_TIME, false))
				.isInstanceOf(AcquireResult.Grant.class);
		}
	}

	private static LockKey key(TestDatabase database, String key) {
		return LockKey.of("occupied-" + database, key);
	}

}
