// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.testsupport.ManualInstances;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many asynchronous callers that wait for one lock and are all turned away.
 */
class ManyWaitersTests {

	private static final LockKey KEY = LockKey.of("stock", 1);

	@RegisterExtension
	final ManualInstances instances = new ManualInstances();

	private final FaultInjectingStore store = this.instances.store();

	private final DefaultLockRegistry registry = this.instances.registry(new DirectStore(this.store));

	@Test
	void allLearnOfAnOutageThatOutlastsThemTogether() {
		this.store.acquire.loseRequests(() -> true);
		allAreDone(50_000, Duration.ofSeconds(30));
	}

	@Test
	void allAreNotifiedWhenTheirWaitTimesEndWhileTheStoreRejectsRequests() {
		this.store.acquire.loseRequests(() -> true);
		allAreDone(10_000, Duration.ofSeconds(1));
	}

	@Test
	void allAreNotifiedWhenTheirWaitTimesEndAtAContendedLock() {
		try (Lease held = this.instances.registry().acquire(LockRequest.of(KEY))) {
			allAreDone(5_000, Duration.ofSeconds(1));
			assertThat(held.isHeld()).isTrue();
		}
	}

	@Test
	void allLearnThatTheStoreCannotKeepTheLockOneAfterAnother() {
		Lease held = this.registry.acquire(LockRequest.of(KEY));
		List<CompletableFuture<Lease>> all = waiters(10_000, Duration.ofHours(1));
		this.store.acquire.loseRequests(() -> {
			throw new IllegalArgumentException("it is a test");
		});
		// After the slice the store is asked for the next one
		this.instances.time.advance(Duration.ofSeconds(1));
		held.close();
		this.instances.time.settle();
		assertThat(all).allMatch(CompletableFuture::isCompletedExceptionally);
		assertThat(this.registry.activeLocks()).isZero();
	}

	private List<CompletableFuture<Lease>> waiters(int number, Duration waitTime) {
		LockRequest request = LockRequest.of(KEY).withWaitTime(waitTime);
		return Stream.generate(() -> this.registry.acquireAsync(request)).limit(number).toList();
	}

	private void allAreDone(int callers, Duration waitTime) {
		List<CompletableFuture<Lease>> all = waiters(callers, waitTime);
		this.instances.time.advance(waitTime);
		assertThat(all.stream().filter((each) -> !each.isDone()).count()).as("callers that are not notified").isZero();
		assertThat(this.registry.activeLocks()).isZero();
	}

}
