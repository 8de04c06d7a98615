// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Asynchronous callers occupy no thread while they wait.
 */
class AsyncThreadsTests {

	private static final int CALLERS = 10_000;

	private static final int MOST_THREADS = 50;

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void tenThousandCallersOfAsManyContendedLocksNeedFewThreads(boolean blocking) {
		LockMemory memory = new LockMemory();
		Set<Thread> before = Thread.getAllStackTraces().keySet();
		LockStore store = blocking ? new FaultInjectingStore(new MemoryLockStore(memory)) : new MemoryLockStore(memory);
		assertThat(store.mayBlock()).isEqualTo(blocking);
		try (DefaultLockRegistry elsewhere = registry(new MemoryLockStore(memory));
				DefaultLockRegistry registry = registry(store)) {
			List<Lease> inTheWay = requests().map(elsewhere::acquire).toList();
			List<CompletableFuture<Lease>> waiting = requests().map(registry::acquireAsync).toList();
			List<Long> threads = new ArrayList<>();
			threads.add(threadsSince(before));
			assertThat(waiting).noneMatch(CompletableFuture::isDone);
			// The one that came last does not wait for any of the others
			inTheWay.get(CALLERS - 1).close();
			Awaitility.await().until(waiting.get(CALLERS - 1)::isDone);
			assertThat(waiting.stream().filter(CompletableFuture::isDone)).hasSize(1);
			inTheWay.forEach(Lease::close);
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> {
				threads.add(threadsSince(before));
				return waiting.stream().allMatch(CompletableFuture::isDone);
			});
			waiting.forEach((lease) -> lease.join().closeAsync());
			threads.add(threadsSince(before));
			Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> registry.activeLocks() == 0);
			assertThat(threads).allMatch((number) -> number <= MOST_THREADS);
		}
	}

	/** A step that is lost would leave its lock held for ever. */
	@ParameterizedTest
	@ValueSource(ints = { 1, 2 })
	void withoutAFurtherThreadABodyEndsAndItsLocksAreReleased(int locks) {
		ScarceTime time = new ScarceTime(5);
		LockMemory memory = new LockMemory(time.manual);
		try (DefaultLockRegistry registry = new DefaultLockRegistry(new MemoryLockStore(memory),
				EngineSettings.DEFAULTS, LockListener.NO_OP, time)) {
			List<LockRequest> requests = IntStream.range(0, locks).mapToObj((i) -> LockRequest.of("stock", i)).toList();
			time.scarce = true;
			CompletableFuture<Boolean> result = new LockTemplate(registry).executeAsync(requests,
					(leases) -> CompletableFuture.completedFuture(leases.isHeld()));
			time.manual.settle();
			assertThat(result).isCompletedWithValue(true);
			assertThat(memory.isEmpty()).isTrue();
		}
	}

	@Test
	void withoutAFurtherThreadALeaseIsRenewedLater() {
		ScarceTime time = new ScarceTime(2);
		LockStore store = new FaultInjectingStore(new MemoryLockStore(new LockMemory(time.manual)));
		try (DefaultLockRegistry registry = new DefaultLockRegistry(store, EngineSettings.DEFAULTS, LockListener.NO_OP,
				time)) {
			Lease lease = registry.acquire(LockRequest.of("stock", 1001));
			time.scarce = true;
			time.manual.advance(EngineSettings.DEFAULTS.leaseTime().dividedBy(2));
			time.scarce = false;
			time.manual.advance(EngineSettings.DEFAULTS.leaseTime().multipliedBy(2));
			assertThat(lease.isHeld()).isTrue();
			lease.close();
		}
	}

	@Test
	void withoutAFurtherThreadToTellOfALossTheLockCanBeAcquiredAgainAndTheLossIsToldLater() {
		ScarceTime time = new ScarceTime(0);
		LockMemory memory = new LockMemory(time.manual);
		LockRequest request = LockRequest.of("stock", 1001);
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		try (DefaultLockRegistry registry = new DefaultLockRegistry(new MemoryLockStore(memory),
				EngineSettings.DEFAULTS, events::add, time)) {
			Lease lease = registry.acquire(request);
			memory.clear();
			time.scarce = true;
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
			assertThat(events).noneMatch(LockEvent.Lost.class::isInstance);
			time.scarce = false;
			time.manual.advance(Duration.ofSeconds(1));
			Awaitility.await().until(() -> events.stream().anyMatch(LockEvent.Lost.class::isInstance));
			registry.acquire(request.withWaitTime(Duration.ZERO)).close();
			assertThat(registry.activeLocks()).isZero();
		}
	}

	@Test
	void bodiesThatWaitForOtherLocksDoNotWaitForEachOther() {
		try (DefaultLockRegistry registry = registry(new MemoryLockStore(new LockMemory()))) {
			LockTemplate template = new LockTemplate(registry);
			CountDownLatch inside = new CountDownLatch(100);
			List<CompletableFuture<Object>> bodies = IntStream.range(0, 100)
				.mapToObj((i) -> template.executeAsyncOrElse(LockRequest.of("outer", i), (outer) -> {
					inside.countDown();
					inside.await();
					return template
						.executeAsync(LockRequest.of("inner", i), (inner) -> CompletableFuture.completedFuture(null))
						.join() == null ? CompletableFuture.completedFuture((Object) i) : null;
				}, (failure) -> {
					throw failure;
				}))
				.toList();
			bodies.forEach((body) -> assertThat(body.orTimeout(30, TimeUnit.SECONDS).join()).isNotNull());
		}
	}

	@Test
	void whatDependsOnReleasesKeepsNoReleaseFromAThread() {
		LockMemory memory = new LockMemory();
		FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(memory));
		LockRequest wanted = LockRequest.of("stock", "wanted").withWaitTime(Duration.ofSeconds(20));
		try (DefaultLockRegistry elsewhere = registry(new MemoryLockStore(memory));
				DefaultLockRegistry registry = registry(store)) {
			CountDownLatch attached = new CountDownLatch(1);
			CountDownLatch released = new CountDownLatch(1);
			List<Lease> leases = requests().limit(100).map(registry::acquire).toList();
			Lease lease = registry.acquire(wanted);
			store.release.loseRequests(() -> {
				Callers.await(attached);
				return false;
			});
			leases.forEach((each) -> each.closeAsync().thenRun(() -> Callers.await(released)));
			lease.closeAsync();
			attached.countDown();
			elsewhere.acquire(wanted).close();
			released.countDown();
		}
	}

	private static Stream<LockRequest> requests() {
		return IntStream.range(0, CALLERS)
			.mapToObj((i) -> LockRequest.of(LockKey.of("stock", i)).withWaitTime(Duration.ofMinutes(5)));
	}

	private static long threadsSince(Set<Thread> before) {
		return Thread.getAllStackTraces().keySet().stream().filter((thread) -> !before.contains(thread)).count();
	}

	private static DefaultLockRegistry registry(LockStore store) {
		return new DefaultLockRegistry(store, EngineSettings.DEFAULTS, (event) -> {
		});
	}

	/**
	 * A time at which no thread can be started: for callers only, or for requests to the
	 * store as well.
	 */
	private static final class ScarceTime implements Time {

		private final ManualTime manual = new ManualTime();

		private final int first;

		private int observed;

		private volatile boolean scarce;

		/**
		 * Create a time.
		 * @param first the first kind of threads that becomes scarce
		 */
		ScarceTime(int first) {
			this.first = first;
		}

		@Override
		public long now() {
			return this.manual.now();
		}

		@Override
		public void parkUntil(Object blocker, long deadline) {
			this.manual.parkUntil(blocker, deadline);
		}

		@Override
		public void unpark(Thread thread) {
			this.manual.unpark(thread);
		}

		@Override
		public @Nullable Thread start(Schedule schedule) {
			return this.manual.start(schedule);
		}

		@Override
		public Executor observe(Executor threads) {
			boolean mayBeScarce = this.observed++ >= this.first;
			return (task) -> {
				if (mayBeScarce && this.scarce) {
					throw new OutOfMemoryError("unable to create native thread");
				}
				this.manual.observe(threads).execute(task);
			};
		}

	}

}
