// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The cost of many locks in one instance.
 */
class RedisManyLocksTests {

	private static final int LOCKS = 300;

	@AutoClose
	private final RedisServer redis = RedisServer.start();

	@AutoClose
	private final RedisRegistry registry = RedisRegistry.lettuce(this.redis);

	@Test
	void aWaiterNeedsNoSubscriptionOfItsOwn() throws Exception {
		List<Lease> leases = acquire(this.registry, LOCKS);
		try (RedisRegistry other = RedisRegistry.lettuce(this.redis)) {
			List<CompletableFuture<Lease>> waiters = IntStream.range(0, LOCKS)
				.mapToObj((i) -> other.acquireAsync(LockRequest.of("stock", i).withWaitTime(Duration.ofMinutes(2))))
				.toList();
			Awaitility.await()
				.until(() -> this.redis.command("KEYS", "*:queue")
					.lines()
					.filter((key) -> !key.isEmpty())
					.count() == LOCKS);
			assertThat(this.redis.command("PUBSUB", "CHANNELS").lines()).hasSizeLessThanOrEqualTo(2);
			leases.forEach(Lease::close);
			for (CompletableFuture<Lease> waiter : waiters) {
				waiter.get(1, TimeUnit.MINUTES).close();
			}
		}
	}

	@Test
	@Tag("clock")
	void aHeldLockNeedsNoThreadOfItsOwn() {
		try (RedisRegistry renewing = RedisRegistry.lettuce(this.redis, RedisRegistry.often(Duration.ofSeconds(6)))) {
			renewing.acquire(LockRequest.of("connected", 1)).close();
			int before = Thread.activeCount();
			List<Lease> leases = acquire(renewing, LOCKS);
			awaitRenewals(2 * LOCKS);
			assertThat(Thread.activeCount()).isLessThanOrEqualTo(before + 8);
			leases.forEach(Lease::close);
		}
	}

	@Test
	@Tag("clock")
	@FullProfileOnly
	void fiveThousandLocksAreRenewedForLongerThanTheirLease() {
		int renewalsPerLease = 6;
		try (RedisRegistry renewing = RedisRegistry.lettuce(this.redis,
				RedisRegistry.leaseTime(Duration.ofSeconds(12), renewalsPerLease))) {
			List<Lease> leases = acquire(renewing, 5000);
			awaitRenewals(5000 * renewalsPerLease);
			assertThat(leases).allMatch(Lease::isHeld);
			leases.forEach(Lease::close);
		}
	}

	private static List<Lease> acquire(RedisRegistry registry, int locks) {
		return IntStream.range(0, locks).mapToObj((i) -> registry.acquire(LockRequest.of("stock", i))).toList();
	}

	private void awaitRenewals(int count) {
		long before = this.redis.calls("pexpire");
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> this.redis.calls("pexpire") >= before + count);
	}

}
