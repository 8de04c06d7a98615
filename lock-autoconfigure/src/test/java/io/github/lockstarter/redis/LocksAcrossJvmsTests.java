// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.WorkerJvm;

import static org.assertj.core.api.Assertions.assertThat;

class LocksAcrossJvmsTests {

	private static final int THREADS = 64;

	private static final int INCREMENTS = 20;

	@Test
	void twoJvmsWith64ThreadsEachLoseNoUpdateOfAPlainCounter() throws Exception {
		assertThat(count(true)).isEqualTo(2 * THREADS * INCREMENTS);
	}

	@Test
	void withoutTheLockTheSameCounterLosesUpdates() throws Exception {
		assertThat(count(false)).isLessThan(2 * THREADS * INCREMENTS);
	}

	@Test
	void aKilledHolderLetsTheNextInWhenItsLeaseEnds() throws Exception {
		try (EmbeddedRedis redis = EmbeddedRedis.start(); RedisRegistry registry = RedisRegistry.lettuce(redis)) {
			try (WorkerJvm holder = WorkerJvm.start(HolderWorker.class, redis.port(), "k", 2000)) {
				long token = Long.parseLong(holder.readLine());
				LockRequest request = LockRequest.of("held", "k");
				assertThat(registry.tryAcquire(request.withWaitTime(Duration.ZERO))).isEmpty();
				holder.kill();
				try (Lease lease = registry.acquire(request.withWaitTime(Duration.ofSeconds(20)))) {
					assertThat(lease.fencingToken()).isGreaterThan(token);
				}
			}
		}
	}

	private int count(boolean locking) throws Exception {
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				WorkerJvm one = WorkerJvm.start(CounterWorker.class, redis.port(), THREADS, INCREMENTS, locking);
				WorkerJvm two = WorkerJvm.start(CounterWorker.class, redis.port(), THREADS, INCREMENTS, locking)) {
			assertThat(one.readLine()).isEqualTo("ready");
			assertThat(two.readLine()).isEqualTo("ready");
			one.proceed();
			two.proceed();
			one.awaitSuccess();
			two.awaitSuccess();
			return Integer.parseInt(redis.command("GET", "counter"));
		}
	}

}
