// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSetRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.testsupport.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * How long callers tolerate a store that cannot be asked.
 */
class OutageTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest PATIENT = LockRequest.of(KEY).withWaitTime(Duration.ofMinutes(2));

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(new LockMemory()));

	private final List<DefaultLockRegistry> registries = new ArrayList<>();

	@AfterEach
	void close() {
		this.store.acquire.loseRequests(() -> false);
		this.registries.forEach(DefaultLockRegistry::close);
	}

	@Test
	void aShortOutageIsBorne() {
		long end = System.nanoTime() + Duration.ofMillis(1200).toNanos();
		this.store.acquire.loseRequests(() -> System.nanoTime() - end < 0);
		registry(EngineSettings.DEFAULTS.outageTime()).acquire(PATIENT).close();
		assertThat(System.nanoTime() - end).isPositive();
	}

	@Test
	void anOwnerLearnsOfAnInterruptionBeforeItsRenewalIsDue() {
		BlockingQueue<LockEvent> events = new LinkedBlockingQueue<>();
		EngineSettings hours = new EngineSettings(Duration.ofHours(3), Duration.ofHours(3), 3, Duration.ofHours(1),
				Duration.ofHours(1), Duration.ofMillis(50), Duration.ofSeconds(1));
		try (DefaultLockRegistry registry = new DefaultLockRegistry(this.store, hours, events::add);
				Lease lease = registry.acquire(LockRequest.of(KEY))) {
			events.clear();
			this.store.renew.loseRequests(() -> true);
			this.store.interrupt();
			Awaitility.await().until(() -> events.stream().anyMatch(LockEvent.Suspect.class::isInstance));
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void oneRequestThatTakesLongerThanTheOutageTimeIsAskedAgain() {
		this.store.acquire.loseRequests(() -> {
			boolean first = this.store.acquire.calls() == 1;
			if (first) {
				LockSupport.parkNanos(Duration.ofMillis(300).toNanos());
			}
			return first;
		});
		registry(Duration.ofMillis(100)).acquire(PATIENT).close();
		assertThat(this.store.acquire.calls()).isEqualTo(2);
	}

	@Test
	@ExtendWith(CapturedLog.Extension.class)
	void shutdownWarnsOfLocksThatAreHeldAndNotOfThoseThatAreOnlyWaitedFor(CapturedLog log) throws Exception {
		CountDownLatch asking = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		DefaultLockRegistry registry = registry(EngineSettings.DEFAULTS.outageTime());
		registry.acquire(LockRequest.of("stock", 1002));
		this.store.acquire.loseRequests(() -> {
			asking.countDown();
			return await(answer);
		});
		Call<Lease> waiter = Callers.start(() -> registry.acquire(PATIENT));
		asking.await();
		registry.drain();
		answer.countDown();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(waiter::get);
		assertThat(log).contains("leases expire: [stock:1002]").doesNotContain("stock:1001");
	}

	private static boolean await(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return true;
	}

	@Test
	void withoutAnOutageTimeTheStoreIsAskedOnce() {
		this.store.acquire.loseRequests(() -> true);
		DefaultLockRegistry registry = registry(Duration.ZERO);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> registry.acquire(PATIENT));
		assertThat(this.store.acquire.calls()).isEqualTo(1);
	}

	@Test
	void aLongOneIsReportedWithItsCauseBeforeTheWaitTimeIsOver() {
		DefaultLockRegistry registry = registry(Duration.ofMillis(200));
		this.store.acquire.loseRequests(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> registry.acquire(LockRequest.of(KEY).withWaitTime(LockRequest.FOREVER)))
			.withMessage("Lock 'stock:1001' is unavailable: the store could not be asked (request lost);"
					+ " nothing was executed")
			.withCauseInstanceOf(FaultInjectingStore.StoreFault.class);
		assertThat(registry.acquireAsync(PATIENT)).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(LockUnavailableException.class);
	}

	@Test
	void aCallerThatHasWaitedBehindAnotherOneForAsLongLearnsOfItWithoutAskingAgain() throws Exception {
		DefaultLockRegistry registry = registry(Duration.ofSeconds(1));
		this.store.acquire.loseRequests(() -> true);
		List<Call<Lease>> calls = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			calls.add(Callers.start(() -> registry.acquire(PATIENT)));
		}
		CompletableFuture<?> all = CompletableFuture
			.allOf(calls.stream().map((call) -> call.result().handle((lease, ex) -> {
				assertThat(ex).isInstanceOf(LockUnavailableException.class);
				return true;
			})).toArray(CompletableFuture[]::new));
		// One after another they would take twenty seconds
		all.get(10, TimeUnit.SECONDS);
	}

	@Test
	void aCallerThatIsOutOfTimeBehindAnotherOneSeesNoContention() throws Exception {
		DefaultLockRegistry registry = registry(Duration.ofMinutes(1));
		this.store.acquire.loseRequests(() -> true);
		Call<Lease> first = Callers.start(() -> registry.acquire(PATIENT));
		Awaitility.await().until(() -> this.store.acquire.calls() >= 2);
		for (Duration waitTime : List.of(Duration.ZERO, Duration.ofMillis(20))) {
			LockRequest request = LockRequest.of(KEY).withWaitTime(waitTime);
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> registry.acquire(request));
			assertThat(registry.acquireAsync(request)).failsWithin(Duration.ofSeconds(20))
				.withThrowableThat()
				.withCauseInstanceOf(LockUnavailableException.class);
		}
		this.store.acquire.loseRequests(() -> false);
		first.get().close();
		registry.acquire(LockRequest.of(KEY)).close();
	}

	@Test
	void severalLocksAreNotAskedForAgainWhenTheTimeIsOver() {
		DefaultLockRegistry registry = registry(Duration.ofSeconds(2));
		this.store.acquireAll.loseRequests(() -> true);
		this.store.acquire.loseRequests(() -> true);
		LockSetRequest request = LockSetRequest.of("stock", List.of(1, 2)).withWaitTime(Duration.ZERO);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> registry.acquireAll(request));
		assertThat(registry.acquireAllAsync(request)).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(LockUnavailableException.class);
		assertThat(this.store.acquire.calls()).isZero();
	}

	private DefaultLockRegistry registry(Duration outageTime) {
		EngineSettings defaults = EngineSettings.DEFAULTS;
		DefaultLockRegistry registry = new DefaultLockRegistry(this.store,
				new EngineSettings(defaults.waitTime(), defaults.leaseTime(), defaults.renewalsPerLease(),
						defaults.pollInterval(), defaults.pollIntervalWithoutMessages(), defaults.timeSlice(),
						Duration.ofSeconds(1), outageTime),
				LockListener.NO_OP);
		this.registries.add(registry);
		return registry;
	}

}
