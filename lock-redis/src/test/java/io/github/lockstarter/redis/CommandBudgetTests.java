// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counts the round trips to Redis, which are the cost of a lock.
 */
class CommandBudgetTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final Duration HOUR = Duration.ofHours(1);

	private final EmbeddedRedis redis = EmbeddedRedis.start();

	/**
	 * The time slice is as long as the test, so the registry never asks whether another
	 * JVM waits.
	 */
	private final RedisRegistry registry = RedisRegistry.lettuce(this.redis, RedisRegistry.timeSlice(HOUR));

	@BeforeEach
	void connect() {
		lockAndUnlock();
		this.registry.awaitConnected(this.redis);
	}

	@AfterEach
	void close() {
		this.registry.close();
		this.redis.close();
	}

	@Test
	void anUncontendedLockAndUnlockIsTwoCommands() {
		List<String> commands = this.redis.monitor(this::lockAndUnlock);
		assertThat(commands).hasSize(2).allSatisfy((command) -> assertThat(command).isEqualToIgnoringCase("EVALSHA"));
	}

	@Test
	void aReentrantLockAndUnlockIsNone() {
		try (Lease lease = this.registry.acquire(REQUEST)) {
			assertThat(this.redis.monitor(() -> this.registry.acquire(REQUEST).close())).isEmpty();
		}
	}

	@Test
	void aHandOffIsNone() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Call<Boolean> first = waiter();
		Call<Boolean> second = waiter();
		assertThat(this.redis.monitor(() -> {
			lease.close();
			assertThat(first.result().join()).isTrue();
			assertThat(second.result().join()).isTrue();
			Awaitility.await().until(() -> this.registry.backgroundActions() == 0);
		})).hasSize(1);
	}

	@Test
	void aWaitingJvmAsksAboutOncePerSecondHoweverManyThreadsWait() throws Exception {
		try (RedisRegistry holder = RedisRegistry.lettuce(this.redis)) {
			Lease lease = holder.acquire(REQUEST);
			for (int i = 0; i < 10; i++) {
				waiter();
			}
			Awaitility.await().until(() -> this.redis.command("ZCARD", "lock:{stock:1001}:queue").equals("1"));
			Call<List<String>> watch = Callers.start(() -> this.redis
				.monitor(() -> Awaitility.await().pollDelay(Duration.ofSeconds(3)).until(() -> true)));
			assertThat(watch.get()).hasSizeBetween(1, 5);
			lease.close();
			Awaitility.await().until(() -> this.registry.activeLocks() == 0);
		}
	}

	private Call<Boolean> waiter() throws InterruptedException {
		return Callers.start(() -> {
			this.registry.acquire(REQUEST).close();
			return true;
		}).awaitParked();
	}

	private void lockAndUnlock() {
		this.registry.acquire(REQUEST).close();
		// A first request that a busy machine has delayed is an orphan for one lease
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> this.registry.backgroundActions() == 0);
	}

}
