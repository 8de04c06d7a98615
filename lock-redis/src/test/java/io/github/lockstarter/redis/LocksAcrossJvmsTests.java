// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.test.WorkerJvm;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

class LocksAcrossJvmsTests {

	private static final int THREADS = 64;

	private static final int INCREMENTS = 20;

	@Test
	void twoJvmsWith64ThreadsEachLoseNoUpdateOfAPlainCounter() throws Exception {
		assertThat(count(true)).isEqualTo(2 * THREADS * INCREMENTS);
	}

	@Test
	@FullProfileOnly
	void withoutTheLockTheSameCounterLosesUpdates() throws Exception {
		assertThat(count(false)).isLessThan(2 * THREADS * INCREMENTS);
	}

	@Test
	void aKilledHolderLetsTheNextInWhenItsLeaseEnds() throws Exception {
		try (EmbeddedRedis redis = EmbeddedRedis.start(); RedisRegistry registry = RedisRegistry.lettuce(redis)) {
			try (WorkerJvm holder = WorkerJvm.start(HolderWorker.class, redis.port(), "k", 5000)) {
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

	@Test
	@FullProfileOnly
	void transfersBetweenRandomAccountsNeitherDeadlockNorLoseMoney() throws Exception {
		int accounts = 6;
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				WorkerJvm one = WorkerJvm.start(TransferWorker.class, redis.port(), 1, 8, 50, accounts);
				WorkerJvm two = WorkerJvm.start(TransferWorker.class, redis.port(), 2, 8, 50, accounts);
				WorkerJvm three = WorkerJvm.start(TransferWorker.class, redis.port(), 3, 8, 50, accounts)) {
			List<WorkerJvm> jvms = List.of(one, two, three);
			for (WorkerJvm jvm : jvms) {
				assertThat(jvm.readLine()).isEqualTo("ready");
			}
			for (WorkerJvm jvm : jvms) {
				jvm.proceed();
			}
			for (WorkerJvm jvm : jvms) {
				jvm.awaitSuccess();
			}
			int total = IntStream.range(0, accounts)
				.map((account) -> Integer.parseInt(redis.command("GET", "account-" + account)))
				.sum();
			assertThat(total).isZero();
			assertThat(redis.command("KEYS", "lock:*").lines()).allMatch((key) -> key.endsWith(":fence"));
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
