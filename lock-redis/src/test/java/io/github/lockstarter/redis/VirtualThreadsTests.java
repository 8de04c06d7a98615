// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.testsupport.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A thousand virtual threads in two JVMs at one lock.
 */
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "there are no virtual threads")
class VirtualThreadsTests {

	private static final int CALLERS = 1000;

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("virtual", 1))
		.withWaitTime(Duration.ofMinutes(1));

	@AutoClose
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@AutoClose
	private final RedisRegistry lettuce = RedisRegistry.lettuce(this.redis);

	@AutoClose
	private final RedisRegistry jedis = RedisRegistry.jedis(this.redis, RedisLockSettings.DEFAULTS);

	private final AtomicInteger reading = new AtomicInteger();

	private final AtomicInteger writing = new AtomicInteger();

	private final AtomicInteger violations = new AtomicInteger();

	/** A plain field: only the lock prevents lost updates. */
	private int written;

	@ParameterizedTest
	@ValueSource(ints = { 2, 5, 50 })
	void readersAndWritersExcludeEachOtherAndAllGetTheirTurn(int everyWriter) throws Exception {
		List<CompletableFuture<Void>> callers = new ArrayList<>();
		for (int i = 0; i < CALLERS; i++) {
			RedisRegistry registry = (i % 4 < 3) ? this.lettuce : this.jedis;
			boolean writer = i % everyWriter == 0;
			callers.add(start(() -> {
				if (writer) {
					write(registry);
				}
				else {
					read(registry);
				}
			}));
		}
		CompletableFuture.allOf(callers.toArray(CompletableFuture[]::new)).get(2, TimeUnit.MINUTES);
		assertThat(this.violations).hasValue(0);
		assertThat(this.written).isEqualTo((CALLERS + everyWriter - 1) / everyWriter);
		for (RedisRegistry registry : List.of(this.lettuce, this.jedis)) {
			Awaitility.await().until(() -> registry.activeLocks() == 0 && registry.backgroundActions() == 0);
		}
		Awaitility.await().until(() -> this.redis.command("KEYS", "*").equals("lock:{virtual:1}:fence"));
	}

	private void read(RedisRegistry registry) {
		try (Lease lease = registry.acquire(REQUEST.withMode(LockMode.READ))) {
			this.reading.incrementAndGet();
			int before = this.written;
			Thread.yield();
			if (this.writing.get() != 0 || this.written != before) {
				this.violations.incrementAndGet();
			}
			this.reading.decrementAndGet();
		}
	}

	private void write(RedisRegistry registry) {
		try (Lease lease = registry.acquire(REQUEST.withMode(LockMode.WRITE))) {
			int writers = this.writing.incrementAndGet();
			int before = this.written;
			Thread.yield();
			if (writers != 1 || this.reading.get() != 0) {
				this.violations.incrementAndGet();
			}
			this.written = before + 1;
			this.writing.decrementAndGet();
		}
	}

	/** The library is compiled for a Java without virtual threads. */
	private static CompletableFuture<Void> start(Runnable body) throws Exception {
		CompletableFuture<Void> result = new CompletableFuture<>();
		Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> {
			try {
				body.run();
				result.complete(null);
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		});
		return result;
	}

}
