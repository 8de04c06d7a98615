// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThatException;

/**
 * A subscription that is never confirmed.
 */
@Tag("clock")
class UnansweredSubscriptionTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1);

	/** Waiters poll often until messages arrive, and then hardly ever. */
	private static final EngineSettings SETTINGS = new EngineSettings(Duration.ofMinutes(10), Duration.ofMinutes(10), 3,
			Duration.ofMinutes(5), EngineSettings.DEFAULTS.pollIntervalWithoutMessages(),
			EngineSettings.DEFAULTS.timeSlice(), Duration.ofSeconds(1), Duration.ofSeconds(20));

	abstract static class Unanswered {

		private final RedisServer redis = RedisServer.start();

		private final Network network = Network.to(this.redis.port());

		private final RedisRegistry holder = RedisRegistry.lettuce(this.redis, SETTINGS);

		private Lease held;

		/**
		 * Create a registry on connections through the network.
		 * @param timeout the time-out of commands, which drivers may use for connecting
		 * as well
		 */
		abstract RedisRegistry create(int port, Duration timeout);

		@BeforeEach
		void holdTheLockAndTheSubscription() {
			this.held = this.holder.acquire(REQUEST);
			Awaitility.await().until(() -> listening() == 1 && signalThreads() == 0);
			this.network.holdBack("SUBSCRIBE");
		}

		@AfterEach
		void close() {
			this.held.close();
			this.holder.close();
			this.network.close();
			this.redis.close();
		}

		@Test
		void closingEndsItAtOnce() throws Exception {
			Call<Lease> waiter;
			try (RedisRegistry registry = create(this.network.port(), Duration.ofMinutes(1))) {
				waiter = Callers.start(() -> registry.acquire(REQUEST));
				this.network.awaitHeld();
			}
			assertThatException().isThrownBy(waiter::get);
			Awaitility.await().until(() -> signalThreads() == 0);
			this.network.letGo();
			Awaitility.await().until(() -> listening() == 1);
		}

		@Test
		void itIsGivenUpAndTheNextOneWakesWaiters() throws Exception {
			try (RedisRegistry registry = create(this.network.port(), Duration.ofSeconds(1))) {
				Call<Lease> waiter = Callers.start(() -> registry.acquire(REQUEST));
				this.network.awaitHeld();
				Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> listening() == 2);
				waiter.awaitParked();
				this.held.close();
				waiter.get().close();
			}
			Awaitility.await().until(() -> signalThreads() == 0);
		}

		@Test
		@FullProfileOnly
		void itGoesOnLongerThanACommandMay() throws Exception {
			this.network.letGo();
			try (RedisRegistry registry = create(this.network.port(), Duration.ofMillis(500))) {
				Call<Lease> waiter = Callers.start(() -> registry.acquire(REQUEST));
				Awaitility.await().until(() -> listening() == 2);
				// On a busy machine, the first one may be given up, but no later one
				AtomicLong before = new AtomicLong();
				Awaitility.await().atMost(Duration.ofSeconds(20)).during(Duration.ofMillis(1500)).until(() -> {
					long subscribed = this.redis.calls("subscribe");
					return before.getAndSet(subscribed) == subscribed;
				});
				this.held.close();
				waiter.get().close();
			}
		}

		private long listening() {
			return this.redis.command("PUBSUB", "CHANNELS").lines().filter((line) -> line.contains("wake")).count();
		}

		private static long signalThreads() {
			return Thread.getAllStackTraces()
				.keySet()
				.stream()
				.filter((thread) -> thread.getName().startsWith("lock-signal-"))
				.count();
		}

	}

	@Nested
	class WithLettuce extends Unanswered {

		@Override
		RedisRegistry create(int port, Duration timeout) {
			return RedisRegistry.of(RedisRegistry.connections(RedisRegistry.server(port), timeout), SETTINGS);
		}

	}

	@Nested
	@FullProfileOnly
	class WithJedis extends Unanswered {

		@Override
		RedisRegistry create(int port, Duration timeout) {
			JedisConnectionFactory connections = new JedisConnectionFactory(RedisRegistry.server(port),
					JedisClientConfiguration.builder().readTimeout(timeout).build());
			return RedisRegistry.of(connections, SETTINGS);
		}

	}

}
