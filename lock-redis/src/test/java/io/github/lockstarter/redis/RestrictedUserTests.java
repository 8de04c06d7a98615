// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The permissions that a Redis user needs, and locks without the permission to subscribe.
 */
class RestrictedUserTests extends AbstractRightsTests {

	/** All that a user needs, with locks under the default prefix. */
	private static final List<String> RIGHTS = List.of("~lock:*", "&lock:wake:*", "+ping", "+evalsha", "+eval",
			"+script|load", "+get", "+mget", "+set", "+del", "+exists", "+pexpire", "+pttl", "+time", "+zadd", "+zrem",
			"+zscore", "+zrange", "+zremrangebyscore", "+pexpireat", "+publish", "+subscribe", "+unsubscribe",
			"+pubsub|numsub");

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final Duration LEASE_TIME = Duration.ofSeconds(20);

	private static final WaitingLine.Listener NO_OP = new WaitingLine.Listener() {

		@Override
		public void onRelease(LockKey key) {
		}

		@Override
		public void onDoubt() {
		}

	};

	private static final String QUEUE = "lock:{stock:1001}:queue";

	@Test
	void theseRightsAreEnoughAndEachCommandIsNeeded() {
		allowAllBut();
		redis.command("CONFIG", "RESETSTAT");
		LettuceConnectionFactory connections = connections();
		try (RedisLockStore first = new RedisLockStore(connections, RedisLockSettings.DEFAULTS);
				RedisLockStore second = new RedisLockStore(connections, RedisLockSettings.DEFAULTS)) {
			StoreClient one = new StoreClient(first);
			StoreClient two = new StoreClient(second);
			OwnerToken owner = OwnerToken.random();
			OwnerToken other = OwnerToken.random();
			OwnerToken reader = OwnerToken.random(LockMode.READ);
			assertThat(second.waitingLine().isListening()).isEmpty();
			Awaitility.await().until(() -> two.listen(NO_OP));
			assertThat(second.waitingLine().isListening()).hasValue(true);
			one.acquire(KEY, owner, LEASE_TIME, false);
			redis.command("SCRIPT", "FLUSH");
			one.renew(KEY, owner, LEASE_TIME);
			two.acquire(KEY, other, LEASE_TIME, true);
			two.withdraw(KEY);
			two.acquire(KEY, other, LEASE_TIME, true);
			one.release(KEY, owner);
			redis.command("FLUSHALL");
			one.acquire(KEY, reader, LEASE_TIME, false);
			two.acquire(KEY, other, LEASE_TIME, true);
			one.acquire(KEY, OwnerToken.random(LockMode.READ), LEASE_TIME, false);
		}
		connections.destroy();
		assertEnoughAndNeeded(RIGHTS);
	}

	@Test
	void theRightsAreDocumented() throws Exception {
		assertThat(Files.readString(Path.of("..", "docs", "guarantees.md")))
			.contains("resetchannels " + String.join(" ", RIGHTS));
	}

	@Test
	void withoutScriptsTheLockIsUnavailableAtOnceAndTheMessageSaysWhy() {
		allowAllBut("+evalsha");
		try (RedisRegistry registry = RedisRegistry.lettuce(redis, USER, PASSWORD)) {
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> registry.acquire(REQUEST))
				.withMessageContaining("The Redis user lacks a permission that the locks need")
				.withStackTraceContaining("evalsha");
		}
	}

	private static void allowAllBut(String... forbidden) {
		allow(RIGHTS, forbidden);
	}

	private static LettuceConnectionFactory connections() {
		LettuceConnectionFactory connections = RedisRegistry.connections(ofUser());
		connections.start();
		return connections;
	}

	@Nested
	@FullProfileOnly
	class AllowedNoMoreThanNeeded extends AbstractRedisLockStoreTests {

		private final LettuceConnectionFactory connections = RestrictedUserTests.connections();

		private final LettuceConnectionFactory admin = new LettuceConnectionFactory("127.0.0.1", redis.port());

		@BeforeEach
		void startAdmin() {
			this.admin.start();
		}

		@AfterEach
		void nothingWasRefused() {
			assertNothingRefused();
			this.connections.destroy();
			this.admin.destroy();
		}

		@Override
		protected LockStore createStore() {
			allowAllBut();
			return super.createStore();
		}

		@Override
		RedisConnectionFactory connections() {
			return this.connections;
		}

		@Override
		RedisConnectionFactory admin() {
			return this.admin;
		}

	}

	@Tag("clock")
	abstract static class NotAllowedToSubscribe {

		abstract RedisRegistry create(RedisServer redis);

		@Test
		void aWaiterPollsAndGetsTheLockAfterARelease() throws Exception {
			aWaiterPollsAndGetsTheLockWithout("+subscribe");
		}

		@Test
		@FullProfileOnly
		void withoutAccessToTheChannelAWaiterPollsAsWell() throws Exception {
			aWaiterPollsAndGetsTheLockWithout("&lock:wake:*");
		}

		private void aWaiterPollsAndGetsTheLockWithout(String forbidden) throws Exception {
			allowAllBut(forbidden);
			try (RedisRegistry holder = RedisRegistry.lettuce(redis); RedisRegistry waiting = create(redis)) {
				for (int i = 0; i < 2; i++) {
					Lease lease = holder.acquire(REQUEST);
					Call<Boolean> waiter = Callers.start(() -> {
						waiting.acquire(REQUEST).close();
						return true;
					});
					long refusals = redis.calls("pttl");
					Awaitility.await().until(() -> redis.calls("pttl") >= refusals + 3);
					assertThat(redis.command("EXISTS", QUEUE)).isEqualTo("0");
					lease.close();
					assertThat(waiter.get()).isTrue();
				}
				assertThat(((DefaultLockRegistry) waiting.registry()).store().waitingLine().isListening())
					.hasValue(false);
				assertThat(waiting.events())
					.allMatch((event) -> event instanceof LockEvent.Acquired || event instanceof LockEvent.Released);
			}
		}

	}

	@Nested
	class NotAllowedToSubscribeWithLettuce extends NotAllowedToSubscribe {

		@Override
		RedisRegistry create(RedisServer redis) {
			return RedisRegistry.lettuce(redis, USER, PASSWORD);
		}

	}

	@Nested
	@FullProfileOnly
	class NotAllowedToSubscribeWithJedis extends NotAllowedToSubscribe {

		@Override
		RedisRegistry create(RedisServer redis) {
			return RedisRegistry.jedis(redis, USER, PASSWORD);
		}

	}

	@Nested
	@Tag("clock")
	class NotAllowedToPublish {

		@Test
		void aReleaseSucceedsAndTheWaiterFindsOutByItself() throws Exception {
			aReleaseSucceedsWithout("+publish");
		}

		@Test
		@FullProfileOnly
		void withoutAccessToTheChannelAReleaseSucceedsAsWell() throws Exception {
			aReleaseSucceedsWithout("&lock:wake:*");
		}

		private void aReleaseSucceedsWithout(String forbidden) throws Exception {
			allowAllBut(forbidden);
			try (RedisRegistry holder = RedisRegistry.lettuce(redis, USER, PASSWORD);
					RedisRegistry waiting = RedisRegistry.lettuce(redis,
							RedisRegistry.pollInterval(Duration.ofMillis(100)))) {
				Lease lease = holder.acquire(REQUEST);
				Call<Boolean> waiter = Callers.start(() -> {
					waiting.acquire(REQUEST).close();
					return true;
				});
				Awaitility.await().until(() -> redis.command("EXISTS", QUEUE).equals("1"));
				lease.close();
				assertThat(waiter.get()).isTrue();
				assertThat(holder.events()).noneMatch(LockEvent.ReleaseFailed.class::isInstance);
			}
		}

	}

}
