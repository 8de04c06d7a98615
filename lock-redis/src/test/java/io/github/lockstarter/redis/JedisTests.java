// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * Locks through the connections of Jedis. The profile {@code full} runs the contract and
 * the outages with them as well.
 */
class JedisTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final String REDIS_KEY = "lock:{stock:1001}";

	private static final Duration LEASE_TIME = Duration.ofMinutes(10);

	private static final RedisDatabase redis = SharedServers.redis();

	@AutoClose
	private final RedisRegistry registry = RedisRegistry.jedis(redis, RedisRegistry.withoutPolling());

	@AutoClose
	private final RedisRegistry other = RedisRegistry.jedis(redis, RedisRegistry.withoutPolling());

	@BeforeEach
	void empty() {
		redis.command("FLUSHDB");
	}

	@ParameterizedTest
	@EnumSource
	void aHeldLockIsRefusedUntilItsRelease(LockMode mode) {
		Lease held = this.registry.acquire(REQUEST.withMode(mode));
		SafetyViolation.check(this.other.tryAcquire(REQUEST.withWaitTime(Duration.ZERO)).isEmpty(),
				"'%s' was granted while another owner has it", KEY);
		held.close();
		try (Lease next = this.other.acquire(REQUEST)) {
			assertLater(next, held);
		}
	}

	@Test
	void aWaiterIsNotifiedOfTheRelease() throws Exception {
		Lease held = this.registry.acquire(REQUEST);
		Call<Lease> waiter = Callers.start(() -> this.other.acquire(REQUEST));
		Awaitility.await().until(() -> redis.command("EXISTS", REDIS_KEY + ":queue").equals("1"));
		held.close();
		try (Lease next = waiter.get()) {
			assertLater(next, held);
		}
	}

	@Test
	void theFirstConnectionIsOpenedInTheBackground() {
		CountDownLatch open = new CountDownLatch(1);
		JedisConnectionFactory connections = new JedisConnectionFactory(RedisRegistry.server(redis)) {

			@Override
			public RedisConnection getConnection() {
				assertThatNoException().isThrownBy(open::await);
				return super.getConnection();
			}

		};
		connections.afterPropertiesSet();
		connections.start();
		try (RedisLockStore store = new RedisLockStore(connections)) {
			CompletableFuture<?> connected = store.connect().toCompletableFuture();
			assertThat(connected).isNotDone();
			open.countDown();
			assertThat(connected).succeedsWithin(Duration.ofMinutes(1));
		}
		finally {
			connections.destroy();
		}
	}

	@Test
	void onlyTheOwnerExtendsItsLease() throws Exception {
		JedisConnectionFactory connections = RedisRegistry.jedis(RedisRegistry.server(redis));
		connections.afterPropertiesSet();
		connections.start();
		try (RedisLockStore store = new RedisLockStore(connections)) {
			StoreClient client = new StoreClient(store);
			OwnerToken owner = OwnerToken.random();
			client.acquire(KEY, owner, LEASE_TIME.dividedBy(2), false);
			SafetyViolation.check(!client.renew(KEY, OwnerToken.random(), LEASE_TIME),
					"The lease of '%s' was extended for another owner", KEY);
			assertThat(remaining()).isLessThanOrEqualTo(LEASE_TIME.toMillis() / 2);
			assertThat(client.renew(KEY, owner, LEASE_TIME)).isTrue();
			assertThat(remaining()).isGreaterThan(LEASE_TIME.toMillis() / 2);
		}
		finally {
			connections.destroy();
		}
	}

	private static long remaining() {
		return Long.parseLong(redis.command("PTTL", REDIS_KEY));
	}

	private static void assertLater(Lease next, Lease before) {
		SafetyViolation.check(next.fencingToken() > before.fencingToken(), "token %d after %d", next.fencingToken(),
				before.fencingToken());
	}

}
