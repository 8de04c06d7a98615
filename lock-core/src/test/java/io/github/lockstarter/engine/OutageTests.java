// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.testsupport.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * How long callers tolerate a store that cannot be asked.
 */
class OutageTests extends AbstractInstancesTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest PATIENT = LockRequest.of(KEY).withWaitTime(Duration.ofMinutes(2));

	private static final EngineSettings DEFAULTS = EngineSettings.DEFAULTS;

	@Test
	void aShortOutageIsBorne() {
		long end = this.time.now() + Duration.ofSeconds(1).toNanos();
		this.store.acquire.loseRequests(() -> this.time.now() - end < 0);
		this.time.letPass(() -> registry(DEFAULTS.outageTime()).acquire(PATIENT).close());
		assertThat(this.time.now() - end).isNotNegative();
	}

	@Test
	void anOwnerLearnsOfAnInterruptionBeforeItsRenewalIsDue() {
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		DefaultLockRegistry registry = this.instances.registry(this.store, events::add);
		try (Lease lease = registry.acquire(LockRequest.of(KEY))) {
			this.store.renew.loseRequests(() -> true);
			this.store.interrupt();
			this.time.advance(Duration.ZERO);
			assertThat(events).hasAtLeastOneElementOfType(LockEvent.Suspect.class);
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void oneRequestThatTakesLongerThanTheOutageTimeIsAskedAgain() {
		this.store.acquire.loseRequests(() -> {
			boolean first = this.store.acquire.calls() == 1;
			if (first) {
				this.time.advance(Duration.ofSeconds(3));
			}
			return first;
		});
		this.time.letPass(() -> registry(Duration.ofSeconds(1)).acquire(PATIENT).close());
		assertThat(this.store.acquire.calls()).isEqualTo(2);
	}

	@Test
	@ExtendWith(CapturedLog.Extension.class)
	void shutdownNamesTheLocksThatAreHeldAndNotThoseThatAreOnlyWaitedFor(CapturedLog log) throws Exception {
		CountDownLatch asking = new CountDownLatch(1);
		CountDownLatch answer = new CountDownLatch(1);
		DefaultLockRegistry registry = registry(DEFAULTS.outageTime());
		registry.acquire(LockRequest.of("stock", 1002));
		this.store.acquire.loseRequests(() -> {
			asking.countDown();
			return await(answer);
		});
		Call<Lease> waiter = Callers.start(() -> registry.acquire(PATIENT));
		asking.await();
		this.time.letPass(registry::drain);
		answer.countDown();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(waiter::get);
		assertThat(log).contains("Waiting up to 20000 ms for the holders of locks before the shutdown: [stock:1002]")
			.contains("leases expire: [stock:1002]")
			.doesNotContain("stock:1001");
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
	void aLongOutageIsReportedWithItsCauseBeforeTheWaitTimeIsOver() {
		Duration outageTime = Duration.ofSeconds(3);
		DefaultLockRegistry registry = registry(outageTime);
		this.store.acquire.loseRequests(() -> true);
		long start = this.time.now();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(
				() -> this.time.letPass(() -> registry.acquire(LockRequest.of(KEY).withWaitTime(LockRequest.FOREVER))))
			.withMessage("Lock 'stock:1001' is unavailable: the store could not be asked (request lost);"
					+ " nothing was executed")
			.withCauseInstanceOf(FaultInjectingStore.StoreFault.class);
		assertThat(Duration.ofNanos(this.time.now() - start)).isEqualTo(outageTime);
		CompletableFuture<Lease> future = registry.acquireAsync(PATIENT);
		this.time.advance(outageTime.minusSeconds(1));
		assertThat(future).isNotDone();
		this.time.advance(Duration.ofSeconds(1));
		assertUnavailable(future);
	}

	private static void assertUnavailable(CompletableFuture<?> future) {
		assertThat(future).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(LockUnavailableException.class);
	}

	@Test
	void aCallerThatHasWaitedBehindAnotherOneForAsLongLearnsOfItWithoutAskingAgain() {
		DefaultLockRegistry registry = registry(Duration.ofSeconds(1));
		this.store.acquire.loseRequests(() -> true);
		List<Call<Lease>> calls = new ArrayList<>();
		for (int i = 1; i <= 20; i++) {
			calls.add(Callers.start(() -> registry.acquire(PATIENT)));
			this.time.awaitParked(i);
		}
		this.time.advance(Duration.ofSeconds(1).minusNanos(1));
		int asked = this.store.acquire.calls();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(calls)
			.allSatisfy((call) -> assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(call::get));
		assertThat(this.store.acquire.calls()).isEqualTo(asked + 1);
	}

	@Test
	void aCallerThatIsOutOfTimeBehindAnotherOneSeesNoContention() throws Exception {
		DefaultLockRegistry registry = registry(Duration.ofMinutes(1));
		this.store.acquire.loseRequests(() -> true);
		Call<Lease> first = Callers.start(() -> registry.acquire(PATIENT));
		this.time.awaitParked(1);
		for (Duration waitTime : List.of(Duration.ZERO, Duration.ofSeconds(1))) {
			LockRequest request = LockRequest.of(KEY).withWaitTime(waitTime);
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.time.letPass(() -> registry.acquire(request)));
			CompletableFuture<Lease> future = registry.acquireAsync(request);
			this.time.advance(waitTime);
			assertUnavailable(future);
		}
		this.store.acquire.loseRequests(() -> false);
		this.time.advance(Duration.ofSeconds(5));
		first.get().close();
		registry.acquire(LockRequest.of(KEY)).close();
	}

	@Test
	void severalLocksAreNotAskedForAgainWhenTheTimeIsOver() {
		DefaultLockRegistry registry = registry(Duration.ofSeconds(2));
		this.store.acquire.loseRequests(() -> true);
		List<LockRequest> request = List.of(LockRequest.of("stock", 1).withWaitTime(Duration.ZERO),
				LockRequest.of("stock", 2));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> registry.acquireAll(request));
		assertUnavailable(registry.acquireAllAsync(request));
		assertThat(this.store.acquire.calls()).isEqualTo(2);
	}

	@Test
	@ExtendWith(CapturedLog.Extension.class)
	void oneLineTellsThatAnOutageBeginsAndOneWhatItHasCost(CapturedLog log) {
		DefaultLockRegistry registry = registry(DEFAULTS.outageTime());
		List<Lease> held = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			held.add(registry.acquire(LockRequest.of("stock", i)));
		}
		this.store.acquire.loseRequests(() -> true);
		this.store.renew.loseRequests(() -> true);
		this.store.release.loseRequests(() -> true);
		this.time.advance(DEFAULTS.leaseTime().dividedBy(2));
		held.remove(0).close();
		LockRequest atOnce = LockRequest.of(KEY).withWaitTime(Duration.ZERO);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> registry.acquire(atOnce));
		this.time.advance(DEFAULTS.leaseTime());
		assertThat(held).noneMatch(Lease::isHeld);
		assertThat(log.toString().lines().filter((line) -> !line.contains("OutageLog"))).singleElement()
			.asString()
			.contains("WARNING", "The store 'MemoryLockStore' cannot be asked: request lost (first")
			.doesNotContain("Exception");
		this.store.acquire.loseRequests(() -> false);
		this.store.renew.loseRequests(() -> false);
		this.store.release.loseRequests(() -> false);
		registry.acquire(atOnce).close();
		this.time.advance(DEFAULTS.leaseTime());
		assertThat(log.toString().lines().filter((line) -> !line.contains("OutageLog"))).hasSize(2)
			.element(1)
			.asString()
			.contains("WARNING", "The store 'MemoryLockStore' answers again, ",
					" ms after the last one; 19 locks were lost: [stock:", " and others");
	}

	@Test
	@ExtendWith(CapturedLog.Extension.class)
	void anOutageLastsUntilNoRequestFailsForAWhile(CapturedLog log) {
		DefaultLockRegistry registry = registry(DEFAULTS.outageTime());
		LockRequest atOnce = LockRequest.of(KEY).withWaitTime(Duration.ZERO);
		for (int i = 0; i < 3; i++) {
			this.store.acquire.loseRequests(() -> true);
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> registry.acquire(atOnce));
			this.time.advance(Duration.ofSeconds(1));
			this.store.acquire.loseRequests(() -> false);
			registry.acquire(atOnce).close();
			this.time.advance(Duration.ofSeconds(2));
		}
		this.time.advance(Duration.ofSeconds(1));
		assertThat(log.toString().lines().filter((line) -> !line.contains("OutageLog"))).hasSize(2)
			.element(1)
			.asString()
			.contains("INFO", "answers again, 7000 ms after the first failed request and 1000 ms after the last one;"
					+ " no lock was lost");
	}

	@Test
	@ExtendWith(CapturedLog.Extension.class)
	void theEndOfAnOutageNamesTheOneLockThatWasLost(CapturedLog log) {
		DefaultLockRegistry registry = registry(DEFAULTS.outageTime());
		Lease held = registry.acquire(LockRequest.of(KEY));
		this.store.renew.loseRequests(() -> true);
		this.time.advance(DEFAULTS.leaseTime());
		assertThat(held.isHeld()).isFalse();
		this.store.renew.loseRequests(() -> false);
		registry.acquire(LockRequest.of(KEY)).close();
		this.time.advance(DEFAULTS.leaseTime());
		assertThat(log).contains(" ms after the last one; 1 lock was lost: [" + KEY + "]");
	}

	@Test
	@ExtendWith(CapturedLog.Extension.class)
	void theReturnOfAnOrphanEndsAnOutage(CapturedLog log) {
		DefaultLockRegistry registry = registry(DEFAULTS.outageTime());
		this.store.acquire.loseRequests(() -> true);
		this.store.release.loseRequests(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> registry.acquire(LockRequest.of(KEY).withWaitTime(Duration.ZERO)));
		this.time.advance(Duration.ofSeconds(5));
		this.store.release.loseRequests(() -> false);
		this.time.advance(Duration.ofSeconds(10));
		assertThat(log).containsPattern("answers again, [5-8]\\d{3} ms after the first failed request");
	}

	private DefaultLockRegistry registry(Duration outageTime) {
		return this.instances.registry(this.store,
				new EngineSettings(DEFAULTS.waitTime(), DEFAULTS.leaseTime(), DEFAULTS.renewalsPerLease(),
						DEFAULTS.pollInterval(), DEFAULTS.pollIntervalWithoutMessages(), DEFAULTS.timeSlice(),
						DEFAULTS.shutdownTimeout(), outageTime),
				LockListener.NO_OP);
	}

}
