// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.testsupport.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Orphans that are released while other callers in the same instance wait. No waiter
 * polls within the time of a test.
 */
class OrphanReturnTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final String QUEUE = "lock:{stock:1001}:queue";

	@AutoClose
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@Test
	void aWaiterOfTheSameInstanceIsNotified() throws Exception {
		LettuceConnectionFactory connections = new LettuceConnectionFactory("127.0.0.1", this.redis.port());
		connections.start();
		try (RedisLockStore delegate = new RedisLockStore(connections, RedisLockSettings.DEFAULTS)) {
			FaultInjectingStore store = new FaultInjectingStore(delegate);
			try (DefaultLockRegistry registry = new DefaultLockRegistry(store, RedisRegistry.withoutPolling(),
					LockListener.NO_OP)) {
				store.acquire.loseAnswers(() -> store.acquire.calls() == 1);
				store.release.loseRequests(() -> !this.redis.command("EXISTS", QUEUE).equals("1"));
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> registry.acquire(REQUEST.withWaitTime(Duration.ZERO)));
				Call<Boolean> waiter = Callers.start(() -> {
					registry.acquire(REQUEST).close();
					return true;
				});
				assertThat(waiter.get()).isTrue();
			}
		}
		finally {
			connections.destroy();
		}
	}

	@Test
	void futuresThatAreCancelledLeaveNobodyAsleep() {
		try (RedisRegistry one = RedisRegistry.lettuce(this.redis, RedisRegistry.withoutPolling());
				RedisRegistry two = RedisRegistry.lettuce(this.redis, RedisRegistry.withoutPolling())) {
			for (int i = 0; i < 500; i++) {
				Lease lease = two.acquire(REQUEST);
				CompletableFuture<Lease> cancelled = one.acquireAsync(REQUEST);
				Awaitility.await()
					.pollInterval(Duration.ofMillis(1))
					.until(() -> this.redis.command("EXISTS", QUEUE).equals("1"));
				CompletableFuture<Lease> waiting = one.acquireAsync(REQUEST);
				lease.close();
				long cancelAt = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(i % 50 * 20);
				while (System.nanoTime() - cancelAt < 0) {
					Thread.onSpinWait();
				}
				if (!cancelled.cancel(false)) {
					cancelled.join().close();
				}
				waiting.orTimeout(20, TimeUnit.SECONDS).join().close();
			}
		}
	}

}
