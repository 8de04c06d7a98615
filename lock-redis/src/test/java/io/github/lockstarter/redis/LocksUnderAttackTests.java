// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three instances fight for one lock with short waits, while callers are interrupted,
 * connections are cut and scripts are forgotten. Redis keeps its data, so none of this
 * excuses a violation.
 */
@FullProfileOnly
class LocksUnderAttackTests {

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("stock", 1001));

	/** Every uncertainty is over after one lease. */
	private static final EngineSettings SETTINGS = RedisRegistry.leaseTime(Duration.ofSeconds(10));

	private static final int CALLERS = 24;

	private static final Duration DURATION = Duration.ofSeconds(8);

	@AutoClose
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@AutoClose
	private final RedisRegistry first = RedisRegistry.lettuce(this.redis, SETTINGS);

	@AutoClose
	private final RedisRegistry second = RedisRegistry.lettuce(this.redis, SETTINGS);

	@AutoClose
	private final RedisRegistry third = RedisRegistry.jedis(this.redis, SETTINGS);

	private final AtomicInteger inside = new AtomicInteger();

	private final AtomicInteger entered = new AtomicInteger();

	private final AtomicLong lastToken = new AtomicLong();

	private final List<String> violations = new ArrayList<>();

	@Test
	void oneOwnerAtATimeGrowingTokensAndNothingLeftBehind() throws Exception {
		List<RedisRegistry> instances = List.of(this.first, this.second, this.third);
		long end = System.nanoTime() + DURATION.toNanos();
		List<Thread> callers = new ArrayList<>();
		for (int i = 0; i < CALLERS; i++) {
			RedisRegistry instance = instances.get(i % instances.size());
			callers.add(new Thread(() -> fight(instance, end), "caller-" + i));
		}
		callers.forEach(Thread::start);
		ScheduledExecutorService nemesis = Executors.newSingleThreadScheduledExecutor();
		nemesis.scheduleWithFixedDelay(() -> attack(callers), 20, 20, TimeUnit.MILLISECONDS);
		for (Thread caller : callers) {
			caller.join(TimeUnit.SECONDS.toMillis(60));
			assertThat(caller.isAlive()).as("%s hangs", caller.getName()).isFalse();
		}
		nemesis.shutdownNow();
		assertThat(nemesis.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
		assertThat(this.violations).isEmpty();
		assertThat(this.entered).hasValueGreaterThan(100);
		Awaitility.await()
			.atMost(Duration.ofSeconds(45))
			.until(() -> instances.stream()
				.allMatch((instance) -> instance.activeLocks() == 0 && instance.backgroundActions() == 0));
		assertThat(this.redis.command("KEYS", "*")).isEqualTo("lock:{stock:1001}:fence");
	}

	private void fight(RedisRegistry instance, long end) {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		while (System.nanoTime() - end < 0) {
			int millis = (random.nextInt(4) == 0) ? 0 : random.nextInt(60);
			try {
				instance.tryAcquire(REQUEST.withWaitTime(Duration.ofMillis(millis))).ifPresent(this::enter);
			}
			catch (LockInterruptedException ex) {
				Thread.interrupted();
			}
			catch (LockUnavailableException ex) {
				Thread.onSpinWait();
			}
		}
	}

	private void enter(Lease lease) {
		try (lease) {
			check(this.inside.incrementAndGet() == 1, "two owners at once");
			check(lease.fencingToken() > this.lastToken.get(), "a fencing token that is not larger");
			this.lastToken.set(lease.fencingToken());
			this.entered.incrementAndGet();
			Thread.yield();
			this.inside.decrementAndGet();
		}
	}

	private void check(boolean condition, String violation) {
		if (!condition) {
			synchronized (this.violations) {
				this.violations.add(violation);
			}
		}
	}

	private void attack(List<Thread> callers) {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		callers.get(random.nextInt(callers.size())).interrupt();
		switch (random.nextInt(20)) {
			case 0 -> this.redis.command("CLIENT", "KILL", "TYPE", "normal");
			case 1 -> this.redis.command("CLIENT", "KILL", "TYPE", "pubsub");
			case 2 -> this.redis.command("SCRIPT", "FLUSH");
			default -> Thread.yield();
		}
	}

}
