// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.List;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.FaultInjectingStore;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many asynchronous callers that wait for one lock and are all turned away.
 */
@Tag("clock")
class ManyWaitersTests {

	private static final LockKey KEY = LockKey.of("stock", 1);

	private final LockMemory memory = new LockMemory();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	@Test
	void allLearnOfAnOutageThatOutlastsThemTogether() {
		this.store.acquire.loseRequests(() -> true);
		allAreDone(new DefaultLockRegistry(new DirectStore(this.store), EngineSettings.DEFAULTS, (event) -> {
		}), 50_000, Duration.ofSeconds(30));
	}

	@Test
	void allAreNotifiedWhenTheirWaitTimesEndWhileTheStoreRejectsRequests() {
		this.store.acquire.loseRequests(() -> true);
		allAreDone(new DefaultLockRegistry(new DirectStore(this.store), EngineSettings.DEFAULTS, (event) -> {
		}), 10_000, Duration.ofMillis(500));
	}

	@Test
	void allAreNotifiedWhenTheirWaitTimesEndAtAContendedLock() {
		DefaultLockRegistry elsewhere = new DefaultLockRegistry(new MemoryLockStore(this.memory),
				EngineSettings.DEFAULTS, (event) -> {
				});
		try (Lease held = elsewhere.acquire(LockRequest.of(KEY))) {
			allAreDone(new DefaultLockRegistry(new DirectStore(this.store), EngineSettings.DEFAULTS, (event) -> {
			}), 5_000, Duration.ofMillis(50));
			assertThat(held.isHeld()).isTrue();
		}
	}

	private static void allAreDone(DefaultLockRegistry registry, int callers, Duration waitTime) {
		LockRequest request = LockRequest.of(KEY).withWaitTime(waitTime);
		List<CompletableFuture<Lease>> all = Stream.generate(() -> registry.acquireAsync(request))
			.limit(callers)
			.toList();
		Awaitility.await()
			.untilAsserted(() -> assertThat(all.stream().filter((each) -> !each.isDone()).count())
				.as("callers that are not notified")
				.isZero());
		assertThat(registry.activeLocks()).isZero();
	}

}
