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
import io.github.lockstarter.LockMode;
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

	/** Readers as often as all others. */
	private static final List<LockMode> ALL_MODES = List.of(LockMode.READ, LockMode.READ, LockMode.READ, LockMode.WRITE,
			LockMode.FAIR, LockMode.EXCLUSIVE);

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

	private final AtomicInteger reading = new AtomicInteger();

	private final AtomicInteger writing = new AtomicInteger();

	private final AtomicInteger together = new AtomicInteger();

	private final AtomicInteger entered = new AtomicInteger();

	private final AtomicLong lastToken = new AtomicLong();

	private final AtomicLong lastWriter = new AtomicLong();

	private final List<String> violations = new ArrayList<>();

	@Test
	void oneOwnerAtATimeGrowingTokensAndNothingLeftBehind() throws Exception {
		fight(List.of(LockMode.EXCLUSIVE));
	}

	@Test
	void manyReadersOrOneOtherGrowingTokensAndNothingLeftBehind() throws Exception {
		fight(ALL_MODES);
		assertThat(this.together).hasPositiveValue();
	}

	private void fight(List<LockMode> modes) throws Exception {
		List<RedisRegistry> instances = List.of(this.first, this.second, this.third);
		long end = System.nanoTime() + DURATION.toNanos();
		List<Thread> callers = new ArrayList<>();
		for (int i = 0; i < CALLERS; i++) {
			RedisRegistry instance = instances.get(i % instances.size());
			callers.add(new Thread(() -> fight(instance, modes, end), "caller-" + i));
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

	private void fight(RedisRegistry instance, List<LockMode> modes, long end) {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		while (System.nanoTime() - end < 0) {
			int millis = (random.nextInt(4) == 0) ? 0 : random.nextInt(60);
			try {
				LockMode mode = modes.get(random.nextInt(modes.size()));
				LockRequest request = REQUEST.withMode(mode).withWaitTime(Duration.ofMillis(millis));
				instance.tryAcquire(request).ifPresent((mode == LockMode.READ) ? this::read : this::write);
			}
			catch (LockInterruptedException ex) {
				Thread.interrupted();
			}
			catch (LockUnavailableException ex) {
				Thread.onSpinWait();
			}
		}
	}

	private void read(Lease lease) {
		try (lease) {
			int readers = this.reading.incrementAndGet();
			check(this.writing.get() == 0, "a reader beside a writer");
			check(lease.fencingToken() > this.lastWriter.get(), "a reader with a token that is not larger");
			this.lastToken.accumulateAndGet(lease.fencingToken(), Math::max);
			this.entered.incrementAndGet();
			this.together.addAndGet(readers - 1);
			Thread.yield();
			check(this.writing.get() == 0, "a writer beside a reader");
			this.reading.decrementAndGet();
		}
	}

	private void write(Lease lease) {
		try (lease) {
			check(this.writing.incrementAndGet() == 1, "two writers at once");
			check(this.reading.get() == 0, "a writer beside readers");
			check(lease.fencingToken() > this.lastToken.get(), "a writer with a token that is not larger");
			this.lastToken.set(lease.fencingToken());
			this.lastWriter.set(lease.fencingToken());
			this.entered.incrementAndGet();
			Thread.yield();
			check(this.reading.get() == 0, "a reader beside a writer");
			this.writing.decrementAndGet();
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
