// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counts the round trips to Redis, which are the cost of a lock.
 */
class CommandBudgetTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final Duration HOUR = Duration.ofHours(1);

	private static final RedisServer redis = RedisServer.start();

	/**
	 * The time slice is as long as the test, so the registry never asks whether another
	 * JVM waits.
	 */
	private static final RedisRegistry registry = RedisRegistry.lettuce(redis, RedisRegistry.timeSlice(HOUR));

	@BeforeAll
	static void connect() {
		lockAndUnlock();
		registry.awaitConnected(redis);
	}

	@BeforeEach
	void awaitRelease() {
		Awaitility.await().until(() -> redis.command("EXISTS", "lock:{stock:1001}").equals("0"));
	}

	@AfterAll
	static void close() {
		registry.close();
		redis.close();
	}

	@Test
	void anUncontendedLockAndUnlockIsTwoCommands() {
		List<String> commands = redis.monitor(CommandBudgetTests::lockAndUnlock);
		assertThat(commands).hasSize(2).allSatisfy((command) -> assertThat(command).isEqualToIgnoringCase("EVALSHA"));
	}

	@Test
	void aReentrantLockAndUnlockIsNone() {
		try (Lease lease = registry.acquire(REQUEST)) {
			assertThat(redis.monitor(() -> registry.acquire(REQUEST).close())).isEmpty();
		}
	}

	@Test
	void aHandOffIsNone() throws Exception {
		Lease lease = registry.acquire(REQUEST);
		Call<Boolean> first = waiter();
		Call<Boolean> second = waiter();
		assertThat(redis.monitor(() -> {
			lease.close();
			assertThat(first.result().join()).isTrue();
			assertThat(second.result().join()).isTrue();
			Awaitility.await().until(() -> registry.backgroundActions() == 0);
		})).hasSize(1);
	}

	@Test
	void furtherWaitersOfAnInstanceAreNone() throws Exception {
		try (RedisRegistry waiting = RedisRegistry.lettuce(redis, RedisRegistry.withoutPolling())) {
			Lease lease = registry.acquire(REQUEST);
			List<Call<Boolean>> calls = new ArrayList<>();
			calls.add(start(waiting));
			Awaitility.await().until(() -> redis.command("ZCARD", "lock:{stock:1001}:queue").equals("1"));
			List<String> commands = redis.monitor(() -> {
				for (int i = 0; i < 20; i++) {
					calls.add(start(waiting));
				}
				Awaitility.await().until(() -> calls.stream().allMatch(CommandBudgetTests::isWaiting));
			});
			// The first waiter may have subscribed and asked again
			assertThat(commands).hasSizeLessThan(10);
			lease.close();
			for (Call<Boolean> call : calls) {
				assertThat(call.get()).isTrue();
			}
		}
	}

	private static boolean isWaiting(Call<?> call) {
		Thread.State state = call.thread().getState();
		return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
	}

	private static Call<Boolean> waiter() throws InterruptedException {
		return start(registry).awaitParked();
	}

	private static Call<Boolean> start(RedisRegistry registry) {
		return Callers.start(() -> {
			registry.acquire(REQUEST).close();
			return true;
		});
	}

	private static void lockAndUnlock() {
		registry.acquire(REQUEST).close();
		// A first request that a busy machine has delayed is an orphan for one lease
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> registry.backgroundActions() == 0);
	}

}
