// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Failures that were measured in other lock libraries, or reported by their users. Each
 * test is named after the failure that must not happen here. Related tests:
 * <ul>
 * <li>the owner does not learn of a loss: {@link LostLocksTests},
 * {@code LockTemplateTests}
 * <li>the lock is released before the commit: {@code LockTransactionTests},
 * {@code DistributedLockOrderingTests}
 * <li>the body runs without the lock: {@code LockTemplateTests},
 * {@code DistributedLockInterceptorTests}
 * <li>nested calls deadlock, or the lock is not released:
 * {@code DistributedLockInterceptorTests}
 * <li>asynchronous results outlive their lock, a key is null, blank or misspelt:
 * {@code LockDefinitionSourceTests}, {@code LockKeyExpressionTests}
 * <li>shutdown releases the lock under a running body: {@code DefaultLockRegistryTests}
 * <li>a cluster refuses scripts over several slots: {@link RedisClusterTests}
 * <li>waiting instances poll all the time: {@link CommandBudgetTests}
 * </ul>
 */
class PeerFailuresTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final String REDIS_KEY = "lock:{stock:1001}";

	@AutoClose
	private static final EmbeddedRedis redis = EmbeddedRedis.start();

	@BeforeEach
	void empty() {
		redis.command("FLUSHALL");
	}

	@Test
	void fiveReentrantHoldsLeaveNothingScheduled() {
		try (RedisRegistry registry = RedisRegistry.lettuce(redis)) {
			Lock lock = registry.lock(KEY);
			for (int i = 0; i < 5; i++) {
				lock.lock();
			}
			for (int i = 0; i < 5; i++) {
				lock.unlock();
			}
			// Earlier than a renewal that was left behind would come and find nothing
			Awaitility.await().atMost(Duration.ofSeconds(8)).until(() -> registry.backgroundActions() == 0);
			assertThat(redis.command("EXISTS", REDIS_KEY)).isEqualTo("0");
		}
	}

	@Test
	void aRefusedUnlockDoesNotRenewForEver() {
		Duration leaseTime = Duration.ofSeconds(10);
		try (RedisRegistry registry = RedisRegistry.lettuce(redis, RedisRegistry.leaseTime(leaseTime));
				RedisRegistry other = RedisRegistry.lettuce(redis)) {
			Lease lease = registry.acquire(REQUEST);
			refuseWrites(true);
			try {
				lease.close();
				Awaitility.await()
					.untilAsserted(() -> assertThat(registry.events())
						.hasAtLeastOneElementOfType(LockEvent.ReleaseFailed.class));
			}
			finally {
				refuseWrites(false);
			}
			other.acquire(REQUEST).close();
			Awaitility.await().until(() -> registry.backgroundActions() == 0);
		}
	}

	@Test
	void tryLockBehindALocalWaiterEndsInTime() throws Exception {
		redis.command("SET", REDIS_KEY, "somebody-else", "PX", "60000");
		try (RedisRegistry registry = RedisRegistry.lettuce(redis)) {
			Lock lock = registry.lock(KEY);
			Call<Boolean> sibling = Callers.start(() -> lock.tryLock(20, TimeUnit.SECONDS)).awaitParked();
			long start = System.nanoTime();
			// The peer waited for the sum of both times
			assertThat(lock.tryLock(200, TimeUnit.MILLISECONDS)).isFalse();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(200));
			assertThat(sibling.result()).isNotDone();
			redis.command("DEL", REDIS_KEY);
			assertThat(sibling.get()).isTrue();
		}
	}

	@Test
	void anInterruptedWaitKeepsTheInterruptAndLeavesNoKeyBehind() throws Exception {
		redis.command("SET", REDIS_KEY, "somebody-else", "PX", "60000");
		try (RedisRegistry registry = RedisRegistry.lettuce(redis)) {
			Call<Boolean> waiter = Callers.start(() -> {
				try (Lease lease = registry.acquire(REQUEST)) {
					return false;
				}
				catch (LockInterruptedException ex) {
					return Thread.currentThread().isInterrupted();
				}
			}).awaitParked();
			Awaitility.await().until(() -> redis.command("EXISTS", REDIS_KEY + ":queue").equals("1"));
			waiter.thread().interrupt();
			assertThat(waiter.get()).isTrue();
			Awaitility.await().until(() -> redis.command("EXISTS", REDIS_KEY + ":queue").equals("0"));
			redis.command("DEL", REDIS_KEY);
			assertThat(redis.command("DBSIZE")).isEqualTo("0");
		}
	}

	@Test
	void aDeadHolderWith700MsLeftLetsTheNextOneInAtAbout700Ms() {
		try (RedisRegistry registry = RedisRegistry.lettuce(redis, RedisRegistry.withoutPolling())) {
			long start = System.nanoTime();
			redis.command("SET", REDIS_KEY, "dead-holder", "PX", "700");
			try (Lease lease = registry.acquire(REQUEST)) {
				// The peer took its whole wait time
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(600),
						Duration.ofSeconds(10));
			}
		}
	}

	@Test
	void aLateUnlockDoesNotFreeTheNextHolder() {
		try (RedisRegistry registry = RedisRegistry.lettuce(redis); RedisRegistry next = RedisRegistry.lettuce(redis)) {
			Lease late = registry.acquire(REQUEST.withLeaseTime(Duration.ofMillis(50)));
			try (Lease lease = next.acquire(REQUEST)) {
				assertThatExceptionOfType(LockLostException.class).isThrownBy(late::close);
				lease.ensureHeld();
				assertThat(redis.command("PTTL", REDIS_KEY))
					.satisfies((ttl) -> assertThat(Long.parseLong(ttl)).isPositive());
				assertThat(registry.tryAcquire(REQUEST.withWaitTime(Duration.ZERO))).isEmpty();
			}
		}
	}

	@Test
	void oneFailingRenewalDoesNotEndRenewal() {
		try (RedisRegistry registry = RedisRegistry.lettuce(redis, RedisRegistry.often(Duration.ofSeconds(15)))) {
			Lease lease = registry.acquire(REQUEST);
			refuseWrites(true);
			try {
				Awaitility.await()
					.until(() -> registry.events().stream().anyMatch(LockEvent.Suspect.class::isInstance));
			}
			finally {
				refuseWrites(false);
			}
			Awaitility.await().until(() -> registry.events().stream().anyMatch(LockEvent.Recovered.class::isInstance));
			long renewals = renewals();
			Awaitility.await().until(() -> renewals() >= renewals + 2);
			lease.close();
			assertThat(registry.events()).noneMatch(LockEvent.Lost.class::isInstance);
		}
	}

	@Test
	void thereIsNoThreadPerLock() {
		try (RedisRegistry registry = RedisRegistry.lettuce(redis, RedisRegistry.often(Duration.ofSeconds(6)))) {
			registry.acquire(LockRequest.of("warm", "up")).close();
			int before = Thread.activeCount();
			List<Lease> leases = new ArrayList<>();
			for (int i = 0; i < 200; i++) {
				leases.add(registry.acquire(LockRequest.of("stock", i)));
			}
			long renewals = renewals();
			Awaitility.await().until(() -> renewals() >= renewals + 400);
			assertThat(Thread.activeCount()).isLessThanOrEqualTo(before + 8);
			leases.forEach(Lease::close);
		}
	}

	@Test
	@FullProfileOnly
	void thereIsNoCapacityBeyondWhichHeldLocksAreForgotten() {
		try (RedisRegistry registry = RedisRegistry.lettuce(redis);
				RedisRegistry other = RedisRegistry.lettuce(redis)) {
			List<Lease> leases = new ArrayList<>();
			for (int i = 0; i < 20_000; i++) {
				leases.add(registry.acquire(LockRequest.of("stock", i)));
			}
			for (int i = 0; i < 20_000; i += 500) {
				assertThat(other.tryAcquire(LockRequest.of("stock", i).withWaitTime(Duration.ZERO))).isEmpty();
			}
			leases.forEach(Lease::close);
			Awaitility.await().until(() -> registry.activeLocks() == 0 && registry.backgroundActions() == 0);
		}
	}

	private static void refuseWrites(boolean refuse) {
		redis.command("CONFIG", "SET", "min-replicas-to-write", refuse ? "1" : "0");
	}

	private static long renewals() {
		return redis.calls("pexpire");
	}

}
