// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.servers.RedisSocket;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One lock in a real Redis, with helpers to set up and inspect its state.
 */
abstract class LockScriptHarness {

	static final LockKey KEY = LockKey.of("stock", 1001);

	static final String LOCK = "lock:{stock:1001}";

	static final String FENCE = LOCK + ":fence";

	static final String TURN = LOCK + ":turn";

	/** A turn lasts so long that none ends during a test. */
	static final Duration TURN_TIME = Duration.ofHours(1);

	static final String QUEUE = LOCK + ":queue";

	static final String READERS = LOCK + ":readers";

	static final Duration LEASE_TIME = Duration.ofSeconds(60);

	/** A machine that stands still for longer fails a test. */
	private static final Duration PATIENCE = Duration.ofSeconds(20);

	/** The milliseconds of a minute. */
	static final String MINUTE = "60000";

	static RedisServer redis;

	static StoreClient store;

	private static RedisLockStore redisStore;

	private static LettuceConnectionFactory connections;

	final OwnerToken owner = OwnerToken.random();

	final OwnerToken other = OwnerToken.random();

	@BeforeAll
	static void startRedis() {
		redis = RedisServer.start();
		connections = new LettuceConnectionFactory("127.0.0.1", redis.port());
		connections.start();
		redisStore = new RedisLockStore(connections, RedisLockSettings.DEFAULTS, new Distance(TURN_TIME));
		redisStore.setInstance("orders@web-7f9c:1");
		store = new StoreClient(redisStore);
		WaitingLine.Listener listener = new WaitingLine.Listener() {

			@Override
			public void onRelease(LockKey key) {
			}

			@Override
			public void onDoubt() {
			}

		};
		Awaitility.await().until(() -> store.listen(listener));
	}

	@AfterAll
	static void stopRedis() {
		redisStore.close();
		connections.destroy();
		redis.close();
	}

	@BeforeEach
	void empty() {
		redis.command("FLUSHALL");
	}

	static AcquireResult.Grant grant(OwnerToken owner) {
		return grant(owner, LEASE_TIME);
	}

	static AcquireResult.Grant grant(OwnerToken owner, Duration leaseTime) {
		AcquireResult attempt = store.acquire(KEY, owner, leaseTime, false);
		assertThat(attempt).isInstanceOf(AcquireResult.Grant.class);
		return (AcquireResult.Grant) attempt;
	}

	static AcquireResult.Refusal refusal(OwnerToken owner, boolean queue) {
		AcquireResult attempt = store.acquire(KEY, owner, LEASE_TIME, queue);
		assertThat(attempt).isInstanceOf(AcquireResult.Refusal.class);
		return (AcquireResult.Refusal) attempt;
	}

	static LockInspection inspection() {
		return redisStore.inspection().orElseThrow();
	}

	/**
	 * Return the id of the JVM of the store.
	 */
	static String jvm() {
		LockKey other = LockKey.of("other");
		store.arrive(other, new OwnerToken("any", LockMode.FAIR));
		String place = redis.command("ZRANGE", "lock:{other}:queue", "0", "-1");
		redis.command("DEL", "lock:{other}:queue");
		return place.substring(0, place.indexOf(':'));
	}

	static String queue() {
		return redis.command("ZRANGE", QUEUE, "0", "-1", "WITHSCORES").replace('\n', ' ');
	}

	/**
	 * Check that a key was just set to expire after a time.
	 */
	static void assertExpiry(String key, Duration time) {
		long remaining = Long.parseLong(redis.command("PTTL", key));
		assertThat(remaining).as("remaining time of " + key)
			.isBetween(time.minus(PATIENCE).toMillis(), time.toMillis());
	}

	/**
	 * Return the time of the server in microseconds since the year 2024.
	 */
	static long micros() {
		String[] time = redis.command("TIME").split("\n");
		return (Long.parseLong(time[0]) - 1_704_067_200) * 1_000_000 + Long.parseLong(time[1]);
	}

	/**
	 * Return the time of the server in milliseconds.
	 */
	static long millis() {
		return 1_704_067_200_000L + micros() / 1000;
	}

	/**
	 * A JVM that waits and listens.
	 */
	static final class Waiter implements AutoCloseable {

		private final RedisSocket socket = new RedisSocket(redis.port());

		/**
		 * Create a waiter.
		 * @param place its place; it begins with the name of its JVM
		 * @param ticket its ticket
		 */
		Waiter(String place, long ticket) {
			this.socket.command("SUBSCRIBE", "lock:wake:" + place.replaceFirst(":.*", ""));
			redis.command("ZADD", QUEUE, Long.toString(ticket), place);
		}

		String read() {
			return this.socket.read().split("\n")[2];
		}

		@Override
		public void close() {
			this.socket.close();
		}

	}

}
