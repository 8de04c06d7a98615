// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Redis is killed and started again, empty, while locks are held and waited for.
 */
class RedisRestartTests {

	abstract static class Restart {

		private static final LockKey KEY = LockKey.of("stock", 1001);

		private static final LockRequest REQUEST = LockRequest.of(KEY);

		private static final EngineSettings WITHOUT_POLLING = new EngineSettings(Duration.ofMinutes(2),
				Duration.ofMinutes(2), 3, Duration.ofMinutes(2), Duration.ofMinutes(2), Duration.ofMillis(50),
				Duration.ofSeconds(1), RedisRegistry.SETTINGS.outageTime());

		private final EmbeddedRedis redis = EmbeddedRedis.start();

		private final RedisRegistry registry = create(this.redis, RedisRegistry.often(Duration.ofSeconds(15)));

		private final RedisRegistry other = create(this.redis, RedisRegistry.SETTINGS);

		abstract RedisRegistry create(EmbeddedRedis redis, EngineSettings settings);

		/** Return the server, after it was asked for a lock. */
		EmbeddedRedis server() {
			this.registry.acquire(REQUEST).close();
			return this.redis;
		}

		@AfterEach
		void close() {
			this.registry.close();
			this.other.close();
			this.redis.close();
		}

		@Test
		void aHolderLearnsOfTheLossAndWaitersGetTheLockWhenRedisIsBack() throws Exception {
			Lease lease = this.registry.acquire(REQUEST);
			List<Call<Long>> waiters = new ArrayList<>();
			for (int i = 0; i < 4; i++) {
				RedisRegistry waiting = (i % 2 == 0) ? this.registry : this.other;
				waiters.add(Callers.start(() -> {
					try (Lease held = waiting.acquire(REQUEST)) {
						return held.fencingToken();
					}
				}).awaitParked());
			}
			this.redis.kill();
			Awaitility.await().until(() -> hasEvent(LockEvent.Suspect.class));
			this.redis.restart();
			Awaitility.await().until(() -> hasEvent(LockEvent.Lost.class));
			assertThat(lease.isHeld()).isFalse();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
			for (Call<Long> waiter : waiters) {
				assertThat(waiter.get()).isGreaterThan(lease.fencingToken());
			}
			this.registry.acquire(REQUEST).close();
		}

		@Test
		void whileRedisIsDownALockIsUnavailableAndNotContended() {
			// There is no subscription yet, because no caller has waited
			this.registry.tryAcquire(REQUEST.withWaitTime(Duration.ZERO)).orElseThrow().close();
			this.redis.kill();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.registry.acquire(REQUEST.withWaitTime(Duration.ofMillis(300))));
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.registry.tryAcquire(REQUEST.withWaitTime(Duration.ZERO)));
			this.redis.restart();
			Lease lease = this.registry.acquire(REQUEST);
			// Its first connection may take longer than this caller waits
			Awaitility.await()
				.ignoreException(LockUnavailableException.class)
				.untilAsserted(() -> assertThat(this.other.tryAcquire(REQUEST.withWaitTime(Duration.ZERO))).isEmpty());
			assertThatExceptionOfType(LockContendedException.class)
				.isThrownBy(() -> this.other.acquire(REQUEST.withWaitTime(Duration.ofMillis(300))));
			lease.close();
		}

		@Test
		void aDirectedWakeUpArrivesAgainAfterTheRestart() throws Exception {
			Call<Boolean> before = waitBehind(this.other.acquire(REQUEST));
			assertThat(before.get()).isTrue();
			this.redis.kill();
			this.redis.restart();
			Lease lease = this.other.acquire(REQUEST);
			Call<Boolean> after = waitBehind(lease);
			assertThat(after.get()).isTrue();
		}

		@Test
		void aReleaseWhileRedisIsDownIsNoErrorAndLocksNobodyOut() {
			Lease lease = this.registry.acquire(REQUEST);
			this.redis.kill();
			lease.close();
			this.redis.restart();
			this.other.acquire(REQUEST).close();
		}

		@Test
		void theFirstWaiterOfAnInstanceNeedNotPoll() throws Exception {
			Lease lease = this.other.acquire(REQUEST.withLeaseTime(Duration.ofMinutes(2)));
			try (RedisRegistry patient = create(this.redis, WITHOUT_POLLING)) {
				assertThat(waitBehind(lease, patient).get()).isTrue();
			}
		}

		@Test
		void whenASubscriptionWasLostWaitersAskAgain() throws Exception {
			this.redis.command("SET", "lock:{stock:1001}", "somebody");
			try (RedisRegistry patient = create(this.redis, WITHOUT_POLLING)) {
				Call<Boolean> waiter = startWaiter(patient);
				// A release without a message, as if the message was lost with the
				// subscription
				this.redis.command("DEL", "lock:{stock:1001}");
				this.redis.command("CLIENT", "KILL", "TYPE", "pubsub");
				assertThat(waiter.get()).isTrue();
			}
		}

		private Call<Boolean> waitBehind(Lease lease) throws InterruptedException {
			return waitBehind(lease, this.registry);
		}

		private Call<Boolean> waitBehind(Lease lease, RedisRegistry waiting) throws InterruptedException {
			Call<Boolean> waiter = startWaiter(waiting);
			lease.close();
			return waiter;
		}

		private Call<Boolean> startWaiter(RedisRegistry waiting) throws InterruptedException {
			Call<Boolean> waiter = Callers.start(() -> {
				waiting.acquire(REQUEST).close();
				return true;
			}).awaitParked();
			Awaitility.await().until(() -> this.redis.command("EXISTS", "lock:{stock:1001}:queue").equals("1"));
			return waiter;
		}

		private boolean hasEvent(Class<? extends LockEvent> type) {
			return this.registry.events().stream().anyMatch(type::isInstance);
		}

	}

	@Nested
	class WithLettuce extends Restart {

		@Override
		RedisRegistry create(EmbeddedRedis redis, EngineSettings settings) {
			return RedisRegistry.lettuce(redis, settings);
		}

		@Test
		void aNewServerKnowsTheScriptsBeforeTheyAreNeeded() {
			EmbeddedRedis redis = server();
			redis.kill();
			redis.restart();
			List<String> command = new ArrayList<>(List.of("SCRIPT", "EXISTS"));
			Stream.of(LockScript.values()).map(LockScript::digest).forEach(command::add);
			Awaitility.await().until(() -> !redis.command(command.toArray(String[]::new)).contains("0"));
		}

	}

	@Nested
	class WithJedis extends Restart {

		@Override
		RedisRegistry create(EmbeddedRedis redis, EngineSettings settings) {
			return RedisRegistry.jedis(redis, settings);
		}

	}

}
