// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.function.BiConsumer;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.servers.PostgresServer;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * PostgreSQL crashes and loses what it has not yet written to the disk. Each test repeats
 * the crash until the release of another lock was among that.
 */
@Tag("clock")
class CrashedServerTests {

	private static final Duration LEASE_TIME = Duration.ofMinutes(1);

	private static final int ATTEMPTS = 5;

	/**
	 * Its transactions do not wait for the disk unless they ask for that, and nothing
	 * else writes them to the disk for seconds.
	 */
	@AutoClose
	private static PostgresServer server;

	private final OwnerToken owner = OwnerToken.random();

	@BeforeAll
	static void startServer() throws Exception {
		server = PostgresServer.start("synchronous_commit=off", "wal_writer_delay=10s");
		TestDatabase.createTable(server.url());
	}

	@ParameterizedTest
	@EnumSource(names = { "GRANT", "RENEWAL" })
	void noLeaseIsForgotten(Change change) throws Exception {
		assertNotForgotten(change);
	}

	@FullProfileOnly
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = { "GRANT", "RENEWAL" })
	void noOtherLeaseIsForgotten(Change change) throws Exception {
		assertNotForgotten(change);
	}

	private void assertNotForgotten(Change change) throws Exception {
		LockKey key = LockKey.of("durable", change);
		try (HikariDataSource pool = TestDatabase.pool(server.url(), 5);
				JdbcLockStore store = new JdbcLockStore(pool, JdbcLockSettings.DEFAULTS)) {
			StoreClient client = new StoreClient(store);
			LeaseRequest lease = new LeaseRequest(key, OwnerToken.random(change.mode), LEASE_TIME);
			crashAfter(client, () -> change.change.accept(client, lease));
			SafetyViolation.check(change.isInForce(client, lease), "the database has forgotten the lease of %s: %s",
					key, change);
		}
	}

	@Test
	void fencingTokensGrowAlthoughAGrantIsForgotten() throws Exception {
		LockKey key = LockKey.of("forgotten");
		try (HikariDataSource pool = TestDatabase.pool(server.url(), 5);
				JdbcLockStore store = new JdbcLockStore(pool, TestDatabase.withoutDurableGrants())) {
			StoreClient client = new StoreClient(store);
			long[] before = new long[1];
			crashAfter(client,
					() -> before[0] = ((AcquireResult.Grant) client.acquire(key, this.owner, LEASE_TIME, false))
						.fencingBase());
			assertThat(client.renew(key, this.owner, Duration.ZERO)).isFalse();
			AcquireResult.Grant next = (AcquireResult.Grant) client.acquire(key, OwnerToken.random(), LEASE_TIME,
					false);
			SafetyViolation.check(next.fencingBase() > before[0], "base %s after %s", next.fencingBase(), before[0]);
		}
	}

	private static void crashAfter(StoreClient client, Runnable change) throws Exception {
		OwnerToken holder = OwnerToken.random();
		LockKey other = LockKey.of("released-before-the-crash", holder.value());
		for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
			try (HikariDataSource pool = TestDatabase.pool(server.url(), 1);
					JdbcLockStore durable = new JdbcLockStore(pool, JdbcLockSettings.DEFAULTS)) {
				assertThat(new StoreClient(durable).acquire(other, holder, LEASE_TIME, false))
					.isInstanceOf(AcquireResult.Grant.class);
			}
			change.run();
			client.release(other, holder);
			server.crash();
			boolean lost = Awaitility.await()
				.ignoreExceptions()
				.until(() -> client.renew(other, holder, Duration.ZERO), (held) -> held != null);
			if (lost) {
				return;
			}
		}
		throw new AssertionError("The server wrote to the disk before each crash");
	}

	/**
	 * A change that must survive.
	 */
	private enum Change {

		GRANT(LockMode.EXCLUSIVE, false,
				(client, lease) -> client.acquire(lease.key(), lease.owner(), LEASE_TIME, false)),

		SHARE(LockMode.READ, false, GRANT.change),

		RENEWAL(LockMode.EXCLUSIVE, true, (client, lease) -> {
			GRANT.change.accept(client, lease);
			client.renew(lease.key(), lease.owner(), LEASE_TIME.multipliedBy(3));
		}),

		RENEWED_SHARE(LockMode.READ, true, RENEWAL.change),

		KEEPING(LockMode.EXCLUSIVE, true, (client, lease) -> {
			GRANT.change.accept(client, lease);
			client.keep(lease.key(), lease.owner(), LEASE_TIME.multipliedBy(3));
		});

		private final LockMode mode;

		/** Whether the lease is three times as long in the end. */
		private final boolean longer;

		private final BiConsumer<StoreClient, LeaseRequest> change;

		Change(LockMode mode, boolean longer, BiConsumer<StoreClient, LeaseRequest> change) {
			this.mode = mode;
			this.longer = longer;
			this.change = change;
		}

		boolean isInForce(StoreClient client, LeaseRequest lease) {
			if (!this.longer) {
				return client.renew(lease.key(), lease.owner(), Duration.ZERO);
			}
			// It blocks others
			AcquireResult attempt = client.acquire(lease.key(), OwnerToken.random(), LEASE_TIME, false);
			return attempt instanceof AcquireResult.Refusal refusal
					&& refusal.remaining().compareTo(LEASE_TIME.multipliedBy(2)) > 0;
		}

	}

}
