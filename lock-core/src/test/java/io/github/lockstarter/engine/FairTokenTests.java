// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.Place;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A FAIR waiter that loses its grant before it notices it acquires the lock anew. The
 * lost tenure is released in the background by its owner token, which must not be that of
 * the new tenure.
 */
class FairTokenTests {

	private static final LockKey KEY = LockKey.of("stock", 1);

	private final LockMemory memory = new LockMemory();

	private final List<OwnerToken> tokens = new CopyOnWriteArrayList<>();

	private final AtomicBoolean forget = new AtomicBoolean(true);

	@Test
	@Tag("clock")
	@EnabledForJreRange(max = JRE.JAVA_20, disabledReason = "virtual threads cannot be occupied")
	void theNewTenureHasANewToken() throws Exception {
		EngineSettings settings = new EngineSettings(Duration.ofSeconds(10), Duration.ofMillis(900), 3,
				Duration.ofSeconds(1), Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofMillis(100));
		DefaultLockRegistry registry = new DefaultLockRegistry(new ForgetfulStore(), settings, (event) -> {
		});
		CountDownLatch busy = new CountDownLatch(1);
		occupyTaskThreads(registry, busy);
		CompletableFuture<Lease> future = registry.acquireAsync(LockRequest.of(KEY).withMode(LockMode.FAIR));
		// The first renewal finds that the store has forgotten the owner
		Awaitility.await().until(() -> !this.forget.get());
		Awaitility.await().until(() -> registry.backgroundActions() > 0);
		busy.countDown();
		future.get().close();
		assertThat(this.tokens).hasSize(2).doesNotHaveDuplicates();
	}

	/**
	 * The first waiter leaves while its request is under way, and the grant comes later
	 * than its lease. The second one has its own place in the line already.
	 */
	@Test
	void theNextWaiterKeepsTheTokenOfItsPlace() throws Exception {
		ManualTime time = new ManualTime();
		LockMemory memory = new LockMemory(time);
		FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(memory));
		CompletableFuture<Boolean> late = new CompletableFuture<>();
		DefaultLockRegistry registry = new DefaultLockRegistry(new DirectStore(store) {

			@Override
			public CompletionStage<LockAttempt> acquire(LeaseRequest request, Place place) {
				CompletionStage<LockAttempt> answer = super.acquire(request, place);
				return (store.acquire.calls() == 1) ? answer.thenCombine(late, (attempt, now) -> attempt) : answer;
			}

		}, EngineSettings.DEFAULTS, LockListener.NO_OP, time);
		Duration leaseTime = Duration.ofSeconds(1);
		LockRequest request = LockRequest.of(KEY).withMode(LockMode.FAIR);
		CompletableFuture<Lease> first = registry.acquireAsync(request.withLeaseTime(leaseTime));
		CompletableFuture<Lease> second = registry.acquireAsync(request);
		Awaitility.await().until(() -> store.acquire.calls() == 1 && store.arrive.calls() == 1);
		first.cancel(false);
		time.advance(leaseTime);
		late.complete(true);
		second.get().close();
		Awaitility.await().until(() -> {
			time.advance(leaseTime);
			return registry.activeLocks() == 0 && registry.backgroundActions() == 0;
		});
		assertThat(memory.isEmpty()).as("no place is left in the line").isTrue();
	}

	/**
	 * Occupy the threads on which asynchronous callers notice their grants, by dependent
	 * actions that block.
	 */
	private void occupyTaskThreads(DefaultLockRegistry registry, CountDownLatch until) {
		CountDownLatch occupied = new CountDownLatch(20);
		DefaultLockRegistry elsewhere = new DefaultLockRegistry(new MemoryLockStore(this.memory),
				EngineSettings.DEFAULTS, (event) -> {
				});
		List<LockRequest> others = IntStream.range(0, 20).mapToObj((i) -> LockRequest.of("other", i)).toList();
		List<Lease> inTheWay = others.stream().map(elsewhere::acquire).toList();
		others.forEach((other) -> registry.acquireAsync(other).thenAccept((lease) -> {
			occupied.countDown();
			await(until);
			lease.close();
		}));
		inTheWay.forEach(Lease::close);
		await(occupied);
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private final class ForgetfulStore extends DirectStore {

		ForgetfulStore() {
			super(new MemoryLockStore(FairTokenTests.this.memory));
		}

		@Override
		public CompletionStage<LockAttempt> acquire(LeaseRequest request, Place place) {
			if (request.key().equals(KEY)) {
				FairTokenTests.this.tokens.add(request.owner());
			}
			return CompletableFuture.supplyAsync(() -> super.acquire(request, place).toCompletableFuture().join());
		}

		@Override
		public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
			for (LeaseRequest request : requests) {
				if (request.key().equals(KEY) && FairTokenTests.this.forget.getAndSet(false)) {
					super.release(request.key(), request.owner(), Place.NONE);
				}
			}
			return super.renew(requests);
		}

	}

}
