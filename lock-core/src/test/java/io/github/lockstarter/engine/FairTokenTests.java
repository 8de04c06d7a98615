// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A FAIR waiter that loses its grant before it notices it acquires the lock anew. The
 * lost ownership is released in the background by its owner token, which must not be that
 * of the new ownership.
 */
class FairTokenTests {

	private static final LockKey KEY = LockKey.of("stock", 1);

	private final ManualTime time = new ManualTime();

	private final LockMemory memory = new LockMemory(this.time);

	private final List<OwnerToken> tokens = new CopyOnWriteArrayList<>();

	private final AtomicBoolean forget = new AtomicBoolean(true);

	private final CompletableFuture<Boolean> granted = new CompletableFuture<>();

	@Test
	void theNewOwnershipHasANewToken() throws Exception {
		DefaultLockRegistry registry = registry(new ForgetfulStore());
		CountDownLatch busy = new CountDownLatch(1);
		occupyTaskThreads(registry, busy);
		CompletableFuture<Lease> future = registry.acquireAsync(LockRequest.of(KEY).withMode(LockMode.FAIR));
		this.granted.complete(true);
		// The first renewal finds that the store has forgotten the owner
		this.time.advance(EngineSettings.DEFAULTS.leaseTime().dividedBy(2));
		assertThat(this.forget).isFalse();
		assertThat(this.tokens).hasSize(1);
		busy.countDown();
		future.get(20, TimeUnit.SECONDS).close();
		assertThat(this.tokens).hasSize(2).doesNotHaveDuplicates();
	}

	/** The late grant is released again and again, for as long as it may take effect. */
	@Test
	void theReleaseOfAGrantThatCameTooLateDoesNotFreeTheNextOne() throws Exception {
		SlowStore slow = new SlowStore();
		DefaultLockRegistry registry = registry(slow);
		Duration leaseTime = Duration.ofSeconds(1);
		slow.slow = true;
		CompletableFuture<Lease> future = registry
			.acquireAsync(LockRequest.of(KEY).withMode(LockMode.FAIR).withLeaseTime(leaseTime));
		slow.slow = false;
		this.time.advance(leaseTime);
		slow.granted.complete(true);
		this.time.settle();
		try (Lease lease = future.get(20, TimeUnit.SECONDS)) {
			// Before the next look-up
			this.time.advance(leaseTime.multipliedBy(3).dividedBy(10));
			assertThat(lease.isHeld()).isTrue();
			DefaultLockRegistry elsewhere = registry(new MemoryLockStore(this.memory));
			SafetyViolation.check(elsewhere.tryAcquire(LockRequest.of(KEY).withWaitTime(Duration.ZERO)).isEmpty(),
					"two owners of '%s'", KEY);
		}
	}

	/**
	 * The first waiter leaves while its request is under way, and the grant comes later
	 * than its lease. The second one has its own place in the line already.
	 */
	@Test
	void theNextWaiterKeepsTheTokenOfItsPlace() throws Exception {
		FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));
		CompletableFuture<Boolean> late = new CompletableFuture<>();
		DefaultLockRegistry registry = registry(new DirectStore(store) {

			@Override
			public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
				CompletionStage<AcquireResult> answer = super.acquire(request, wait);
				return (store.acquire.calls() == 1) ? answer.thenCombine(late, (attempt, now) -> attempt) : answer;
			}

		});
		Duration leaseTime = Duration.ofSeconds(1);
		LockRequest request = LockRequest.of(KEY).withMode(LockMode.FAIR);
		CompletableFuture<Lease> first = registry.acquireAsync(request.withLeaseTime(leaseTime));
		CompletableFuture<Lease> second = registry.acquireAsync(request);
		Awaitility.await().until(() -> store.acquire.calls() == 1 && store.arrive.calls() == 1);
		first.cancel(false);
		this.time.advance(leaseTime);
		late.complete(true);
		second.get().close();
		Awaitility.await().until(() -> {
			this.time.advance(leaseTime);
			return registry.activeLocks() == 0 && registry.backgroundActions() == 0;
		});
		assertThat(this.memory.isEmpty()).as("no place is left in the line").isTrue();
	}

	/**
	 * The place is taken only after the grant, which has no place to take out of the
	 * line.
	 */
	@Test
	void aPlaceThatIsTakenAfterAGrantIsGivenUpThoughTheGrantComesTooLate() throws Exception {
		SlowStore slow = new SlowStore();
		DefaultLockRegistry registry = registry(slow);
		Duration leaseTime = Duration.ofSeconds(1);
		CompletableFuture<Lease> future = overtakeItsPlace(registry, slow, leaseTime);
		this.time.advance(leaseTime);
		slow.granted.complete(true);
		assertThatNobodyStandsInLine(future);
	}

	@Test
	void aPlaceThatIsTakenAfterAGrantIsGivenUpThoughTheGrantIsLostOnTheWay() throws Exception {
		SlowStore slow = new SlowStore();
		DefaultLockRegistry registry = registry(slow);
		CountDownLatch busy = new CountDownLatch(1);
		occupyTaskThreads(registry, busy);
		Duration leaseTime = Duration.ofSeconds(1);
		CompletableFuture<Lease> future = overtakeItsPlace(registry, slow, leaseTime);
		slow.granted.complete(true);
		this.time.advance(leaseTime);
		busy.countDown();
		assertThatNobodyStandsInLine(future);
	}

	/** The request for the place is about to be sent when the lock becomes free. */
	@Test
	void noPlaceIsTakenAfterTheLockWasAskedFor() throws Exception {
		AtomicReference<Runnable> whenListening = new AtomicReference<>(() -> {
		});
		DefaultLockRegistry registry = registry(new DirectStore(new MemoryLockStore(this.memory)) {

			@Override
			protected boolean listen(WaitingLine.Listener listener) {
				whenListening.getAndSet(() -> {
				}).run();
				return super.listen(listener);
			}

		});
		LockRequest request = LockRequest.of(KEY).withMode(LockMode.FAIR);
		Lease before = registry.acquire(request);
		whenListening.set(before::close);
		assertThatNobodyStandsInLine(registry.acquireAsync(request));
	}

	/** Let a waiter be granted the lock while it still enters the line. */
	private CompletableFuture<Lease> overtakeItsPlace(DefaultLockRegistry registry, SlowStore slow,
			Duration leaseTime) {
		LockRequest request = LockRequest.of(KEY).withMode(LockMode.FAIR).withLeaseTime(leaseTime);
		Lease before = registry.acquire(request);
		slow.slow = true;
		CompletableFuture<Lease> future = registry.acquireAsync(request);
		before.close();
		slow.slow = false;
		slow.entered.complete(true);
		return future;
	}

	private void assertThatNobodyStandsInLine(CompletableFuture<Lease> future) throws Exception {
		this.time.settle();
		try (Lease lease = future.get(20, TimeUnit.SECONDS)) {
			this.time.settle();
			assertThat(lease.isHeld()).isTrue();
			assertThat(new StoreClient(new MemoryLockStore(this.memory)).waiters(KEY)).isEmpty();
		}
	}

	/**
	 * Occupy the threads on which asynchronous callers notice their grants, by dependent
	 * actions that block.
	 */
	private void occupyTaskThreads(DefaultLockRegistry registry, CountDownLatch until) {
		CountDownLatch occupied = new CountDownLatch(20);
		DefaultLockRegistry elsewhere = registry(new MemoryLockStore(this.memory));
		List<LockRequest> others = IntStream.range(0, 20).mapToObj((i) -> LockRequest.of("other", i)).toList();
		List<Lease> inTheWay = others.stream().map(elsewhere::acquire).toList();
		others.forEach((other) -> registry.acquireAsync(other).thenAccept((lease) -> {
			occupied.countDown();
			Callers.await(until);
			lease.close();
		}));
		inTheWay.forEach(Lease::close);
		Callers.await(occupied);
	}

	private DefaultLockRegistry registry(LockStore store) {
		return new DefaultLockRegistry(store, EngineSettings.DEFAULTS, LockListener.NO_OP, this.time);
	}

	/** Enters the line late, and answers requests late, while it is slow. */
	private final class SlowStore extends DirectStore {

		private final CompletableFuture<Boolean> entered = new CompletableFuture<>();

		private final CompletableFuture<Boolean> granted = new CompletableFuture<>();

		private volatile boolean slow;

		SlowStore() {
			super(new MemoryLockStore(FairTokenTests.this.memory));
		}

		@Override
		protected <T> CompletionStage<T> ask(Request kind, Supplier<CompletionStage<T>> request) {
			if (!this.slow || kind == Request.RELEASE) {
				return request.get();
			}
			if (kind == Request.ENTER) {
				return this.entered.thenCompose((now) -> request.get());
			}
			return request.get().thenCombine(this.granted, (answer, now) -> answer);
		}

	}

	private final class ForgetfulStore extends DirectStore {

		ForgetfulStore() {
			super(new MemoryLockStore(FairTokenTests.this.memory));
		}

		@Override
		public CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait) {
			CompletionStage<AcquireResult> answer = super.acquire(request, wait);
			if (!request.key().equals(KEY)) {
				return answer;
			}
			FairTokenTests.this.tokens.add(request.owner());
			return answer.thenCombine(FairTokenTests.this.granted, (attempt, now) -> attempt);
		}

		@Override
		public List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests) {
			for (LeaseRequest request : requests) {
				if (request.key().equals(KEY) && FairTokenTests.this.forget.getAndSet(false)) {
					super.release(request.key(), request.owner());
				}
			}
			return super.renew(requests);
		}

	}

}
