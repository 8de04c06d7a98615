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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;
import io.github.lockstarter.test.SafetyViolation;

/**
 * A thousand virtual threads in two JVMs at one lock.
 */
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "there are no virtual threads")
class VirtualThreadsTests {

	private static final int CALLERS = 1000;

	private static final int WRITERS = 200;

	private static final LockRequest REQUEST = LockRequest.of(LockKey.of("virtual", 1))
		.withWaitTime(Duration.ofMinutes(1));

	private final RedisDatabase redis = SharedServers.redis();

	@AutoClose
	private final RedisRegistry one = RedisRegistry.lettuce(this.redis);

	@AutoClose
	private final RedisRegistry two = RedisRegistry.lettuce(this.redis);

	private final AtomicInteger reading = new AtomicInteger();

	/** A plain field: only the lock prevents lost updates. */
	private int written;

	@Test
	void readersAndWritersExcludeEachOtherAndAllGetTheirTurn() throws Exception {
		List<CompletableFuture<Void>> callers = new ArrayList<>();
		for (int i = 0; i < CALLERS; i++) {
			RedisRegistry registry = (i % 2 == 0) ? this.one : this.two;
			callers.add(start((i % (CALLERS / WRITERS) == 0) ? () -> write(registry) : () -> read(registry)));
		}
		CompletableFuture.allOf(callers.toArray(CompletableFuture[]::new)).get(2, TimeUnit.MINUTES);
		SafetyViolation.check(this.written == WRITERS, "%d instead of %d updates", this.written, WRITERS);
		Awaitility.await().until(() -> this.redis.command("KEYS", "*").equals("lock:{virtual:1}:fence"));
	}

	private void read(RedisRegistry registry) {
		try (Lease lease = registry.acquire(REQUEST.withMode(LockMode.READ))) {
			this.reading.incrementAndGet();
			int before = this.written;
			Thread.yield();
			SafetyViolation.check(this.written == before, "a writer beside a reader");
			this.reading.decrementAndGet();
		}
	}

	private void write(RedisRegistry registry) {
		try (Lease lease = registry.acquire(REQUEST.withMode(LockMode.WRITE))) {
			int before = this.written;
			Thread.yield();
			SafetyViolation.check(this.reading.get() == 0, "a reader beside a writer");
			this.written = before + 1;
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
