// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.CapturedLog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class DefaultLockRegistryTests extends AbstractInstancesTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	private final DefaultLockRegistry registry = this.instances.registry(this.store, this.events::add);

	@Test
	void aSecondCallerIsRefusedUntilTheFirstHasClosedItsLease() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		assertThat(Callers.start(() -> this.registry.tryAcquire(AT_ONCE).isPresent()).get()).isFalse();
		lease.close();
		assertThat(Callers.start(() -> closing(this.registry.acquire(AT_ONCE))).get()).isTrue();
	}

	@Test
	void aRefusalNamesTheLockAndTheTime() throws Exception {
		try (Lease lease = this.registry.acquire(REQUEST)) {
			Call<Boolean> other = Callers
				.start(() -> closing(this.registry.acquire(REQUEST.withWaitTime(Duration.ofSeconds(3)))));
			this.time.awaitParked(1);
			this.time.advance(Duration.ofSeconds(3));
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(other::get)
				.withMessageContaining("'stock:1001'")
				.satisfies((ex) -> assertThat(ex.getWaited()).isEqualTo(Duration.ofSeconds(3)))
				.satisfies((ex) -> assertThat(ex.getKey()).isEqualTo(KEY));
		}
	}

	@Test
	void aCallerWithoutTimeDoesNotAskTheStoreAboutALockThatIsHeldHere() throws Exception {
		try (Lease lease = this.registry.acquire(REQUEST)) {
			assertThat(Callers.start(() -> this.registry.tryAcquire(AT_ONCE).isPresent()).get()).isFalse();
			assertThat(this.store.acquire.calls()).isEqualTo(1);
		}
	}

	@Test
	@ExtendWith(CapturedLog.Extension.class)
	void eachStepIsALineOfTheLog(CapturedLog log) throws Exception {
		Logger logger = Logger.getLogger(LeaseEvents.class.getName());
		logger.setLevel(Level.FINE);
		try (Lease lease = this.registry.acquire(REQUEST)) {
			this.time.advance(Duration.ofMillis(20));
			assertThat(Callers.start(() -> this.registry.tryAcquire(AT_ONCE).isPresent()).get()).isFalse();
			lease.close();
			assertThat(log)
				.contains("Acquired lock 'stock:1001' (EXCLUSIVE, token " + lease.fencingToken() + ") after 0 ms")
				.contains("Did not acquire lock 'stock:1001' (EXCLUSIVE) within 0 ms, because it is held by "
						+ OwnerToken.instance(null))
				.contains("Released lock 'stock:1001' (token " + lease.fencingToken() + ") after 20 ms");
		}
		finally {
			logger.setLevel(null);
		}
	}

	@Test
	void onlyTheFirstOfManyWaitersAsksTheStore() throws Exception {
		OwnerToken foreign = this.instances.holdElsewhere(KEY, Duration.ofSeconds(30));
		List<Call<Boolean>> waiters = new ArrayList<>();
		for (int i = 1; i <= 10; i++) {
			waiters.add(Callers.start(() -> closing(this.registry.acquire(REQUEST))));
			this.time.awaitParked(i);
		}
		assertThat(this.store.acquire.calls()).isOne();
		this.instances.releaseElsewhere(KEY, foreign);
		for (Call<Boolean> waiter : waiters) {
			assertThat(waiter.get()).isTrue();
		}
	}

	@Test
	void waitersOfOneJvmAreServedInTheOrderOfArrival() throws Exception {
		List<Integer> order = new CopyOnWriteArrayList<>();
		List<Call<Boolean>> waiters = new ArrayList<>();
		Lease lease = this.registry.acquire(REQUEST);
		for (int i = 1; i <= 8; i++) {
			int number = i;
			waiters.add(Callers.start(() -> {
				try (Lease held = this.registry.acquire(REQUEST)) {
					return order.add(number);
				}
			}));
			this.time.awaitParked(i);
		}
		lease.close();
		for (Call<Boolean> waiter : waiters) {
			waiter.get();
		}
		assertThat(order).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
	}

	@Test
	void aNestedAcquisitionSharesTheLeaseAndDoesNotTouchTheStore() {
		try (Lease outer = this.registry.acquire(REQUEST)) {
			try (Lease inner = this.registry.acquire(AT_ONCE)) {
				assertThat(inner.fencingToken()).isEqualTo(outer.fencingToken());
			}
			assertThat(outer.isHeld()).isTrue();
			assertThat(this.store.release.calls()).isZero();
		}
		assertThat(this.store.acquire.calls()).isEqualTo(1);
		assertThat(this.store.release.calls()).isEqualTo(1);
	}

	@Test
	void theLockIsReleasedByTheLastLeaseInWhateverOrderTheyAreClosed() {
		Lease outer = this.registry.acquire(REQUEST);
		Lease inner = this.registry.acquire(REQUEST);
		outer.close();
		// Does not end the other one
		outer.close();
		assertThat(inner.isHeld()).isTrue();
		assertThat(this.store.release.calls()).isZero();
		inner.close();
		assertThat(this.store.release.calls()).isEqualTo(1);
	}

	@Test
	void closingALeaseTwiceDoesNotReleaseTheNextHolder() throws Exception {
		Lease first = this.registry.acquire(REQUEST);
		first.close();
		Lease second = this.registry.acquire(REQUEST);
		first.close();
		assertThat(second.isHeld()).isTrue();
		assertThat(Callers.start(() -> this.registry.tryAcquire(AT_ONCE).isPresent()).get()).isFalse();
		second.close();
	}

	@Test
	void anyThreadMayCloseALease() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Callers.start(() -> closing(lease)).get();
		assertThat(lease.isHeld()).isFalse();
		assertThat(Callers.start(() -> closing(this.registry.acquire(AT_ONCE))).get()).isTrue();
	}

	@Test
	void everyLaterGrantHasALargerFencingToken() {
		long last = 0;
		for (int i = 0; i < 100; i++) {
			try (Lease lease = this.registry.acquire(REQUEST)) {
				assertThat(lease.fencingToken()).isGreaterThan(last);
				last = lease.fencingToken();
			}
		}
	}

	@Test
	void locksOfDifferentKeysDoNotMeet() throws Exception {
		try (Lease lease = this.registry.acquire(REQUEST)) {
			assertThat(Callers
				.start(() -> closing(this.registry.acquire(LockRequest.of("stock", 1002).withWaitTime(Duration.ZERO))))
				.get()).isTrue();
		}
	}

	@Test
	void anInterruptEndsTheWaitAtOnceKeepsTheFlagAndLeavesNothing() throws Exception {
		OwnerToken foreign = this.instances.holdElsewhere(KEY, Duration.ofSeconds(30));
		Call<Boolean> waiter = Callers.start(() -> {
			try {
				return closing(this.registry.acquire(REQUEST));
			}
			catch (LockInterruptedException ex) {
				return Thread.currentThread().isInterrupted();
			}
		});
		this.time.awaitParked(1);
		waiter.thread().interrupt();
		assertThat(waiter.get()).isTrue();
		assertNothingLeft();
		this.instances.releaseElsewhere(KEY, foreign);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void anInterruptInTheLocalQueueDoesNotLoseTheTurn() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Call<Boolean> interrupted = Callers.start(() -> closing(this.registry.acquire(REQUEST)));
		this.time.awaitParked(1);
		Call<Boolean> next = Callers.start(() -> closing(this.registry.acquire(REQUEST)));
		this.time.awaitParked(2);
		interrupted.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(interrupted::get);
		lease.close();
		assertThat(next.get()).isTrue();
	}

	@Test
	void anInterruptedThreadIsNotGivenALock() throws Exception {
		Call<Boolean> caller = Callers.start(() -> {
			Thread.currentThread().interrupt();
			return closing(this.registry.acquire(REQUEST));
		});
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(caller::get);
		assertThat(this.store.acquire.calls()).isZero();
	}

	@Test
	void anInterruptedThreadReleasesAndKeepsItsFlag() throws Exception {
		// Drivers refuse to wait on an interrupted thread
		this.store.release.loseRequests(() -> Thread.currentThread().isInterrupted());
		Call<Boolean> caller = Callers.start(() -> {
			Lease lease = this.registry.acquire(REQUEST);
			Thread.currentThread().interrupt();
			lease.close();
			return Thread.currentThread().isInterrupted();
		});
		assertThat(caller.get()).isTrue();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void anInterruptInTheInstantOfTheGrantLeavesNothingLocked() {
		this.store.acquire.loseRequests(() -> {
			Thread.currentThread().interrupt();
			return false;
		});
		Call<Lease> caller = Callers.start(() -> this.registry.acquire(REQUEST));
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(caller::get);
		this.time.settle();
		assertThat(this.memory.isEmpty()).isTrue();
		assertThat(this.registry.activeLocks()).isZero();
	}

	@Test
	void aLostAnswerToAnAcquisitionIsFoundAgainByTheNextAttempt() {
		this.store.acquire.loseAnswers(() -> this.store.acquire.calls() == 1);
		try (Lease lease = this.time.letPass(() -> this.registry.acquire(REQUEST))) {
			assertThat(lease.isHeld()).isTrue();
		}
		assertThat(this.store.acquire.calls()).isEqualTo(2);
		assertThat(new StoreClient(this.store).acquire(KEY, OwnerToken.random(), Duration.ofSeconds(1), false))
			.isInstanceOf(AcquireResult.Grant.class);
	}

	@Test
	void anAcquisitionOfUnknownOutcomeIsReleasedInTheBackground() {
		this.store.acquire.loseAnswers(() -> this.store.acquire.calls() == 1);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.registry.acquire(AT_ONCE))
			.withMessageContaining("'stock:1001'")
			.withMessageContaining("answer lost")
			.withCauseInstanceOf(FaultInjectingStore.StoreFault.class);
		assertThat(this.time.letPass(() -> this.registry.tryAcquire(REQUEST))).hasValueSatisfying(Lease::close);
	}

	@Test
	void anOutageIsNotContention() {
		this.store.acquire.loseRequests(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(
				() -> this.time.letPass(() -> this.registry.tryAcquire(REQUEST.withWaitTime(Duration.ofSeconds(1)))));
		assertThat(this.store.acquire.calls()).isGreaterThan(1);
		assertThat(this.events).singleElement().isInstanceOf(LockEvent.Unavailable.class);
	}

	@Test
	void aStoreThatWillNotChangeItsMindIsAskedOnce() {
		this.store.acquire.refuse();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.registry.acquire(REQUEST))
			.withMessageContaining("not allowed");
		assertThat(this.store.acquire.calls()).isOne();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.store.release.calls()).isPositive();
	}

	@Test
	void aWaitSurvivesAnOutageThatEndsInTime() {
		this.store.acquire.loseRequests(() -> this.store.acquire.calls() < 4);
		assertThat(this.time.letPass(() -> closing(this.registry.acquire(REQUEST)))).isTrue();
	}

	@Test
	void aFailedReleaseIsNoErrorForTheCallerAndIsTriedAgain() {
		this.store.release.loseRequests(() -> this.store.release.calls() < 2);
		closing(this.registry.acquire(REQUEST));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.memory.isEmpty()).isTrue();
		assertThat(this.events).extracting(LockEvent::getClass)
			.containsExactly(LockEvent.Acquired.class, LockEvent.ReleaseFailed.class);
		assertThat(this.store.renew.calls()).isZero();
		assertNothingLeft();
	}

	@Test
	void aLostAnswerToAReleaseIsNoLoss() {
		this.store.release.loseAnswers(() -> this.store.release.calls() == 1);
		closing(this.registry.acquire(REQUEST));
		this.time.advance(Duration.ofSeconds(1));
		assertNothingLeft();
		assertThat(this.store.release.calls()).isEqualTo(2);
		assertThat(this.events).hasAtLeastOneElementOfType(LockEvent.ReleaseFailed.class);
		assertThat(this.events).noneMatch(LockEvent.Lost.class::isInstance);
	}

	@Test
	void aLockThatIsKeptIsNotReleasedThoughItsGrantWasUncertain() {
		this.store.acquire.loseAnswers(() -> this.store.acquire.calls() == 1);
		Lease lease = this.time.letPass(() -> this.registry.acquire(REQUEST));
		lease.holdAtLeast(Duration.ofHours(1));
		lease.close();
		this.time.advance(Duration.ofMinutes(59));
		assertThat(this.store.release.calls()).isGreaterThan(1);
		assertThat(this.registry.tryAcquire(AT_ONCE)).isEmpty();
		assertThat(this.events).noneMatch(LockEvent.Lost.class::isInstance);
	}

	@Test
	void closingALeaseThatTheStoreNoLongerKnowsReportsTheLossAndFreesTheLock() {
		Lease lease = this.registry.acquire(REQUEST);
		this.memory.clear();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close)
			.withMessageContaining("'stock:1001'")
			.satisfies((ex) -> assertThat(ex.getFencingToken()).isEqualTo(lease.fencingToken()));
		lease.close();
		assertThat(closing(this.registry.acquire(AT_ONCE))).isTrue();
	}

	@Test
	void aRequestThatArrivesAfterItsOwnershipIsOverIsReleased() {
		this.store.acquire.loseRequests(() -> this.store.acquire.calls() == 1);
		Lease lease = this.time.letPass(() -> this.registry.acquire(REQUEST));
		assertThat(this.store.acquire.calls()).isEqualTo(2);
		LeaseRequest late = this.store.lastAcquired();
		lease.close();
		MemoryLockStore network = new MemoryLockStore(this.memory);
		new StoreClient(network).acquire(late.key(), late.owner(), late.leaseTime(), false);
		this.time.advance(Duration.ofSeconds(10));
		assertThat(new StoreClient(network).acquire(KEY, OwnerToken.random(), Duration.ofSeconds(30), false))
			.isInstanceOf(AcquireResult.Grant.class);
	}

	@Test
	void aFixedLeaseThatExpiresIsLostAndItsOwnerIsNotified() {
		Lease lease = this.registry.acquire(REQUEST.withLeaseTime(Duration.ofSeconds(5)));
		AtomicInteger notified = new AtomicInteger();
		lease.onLost((loss) -> notified.incrementAndGet());
		this.time.advance(Duration.ofSeconds(4));
		assertThat(lease.isHeld()).isTrue();
		assertThat(notified).hasValue(0);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(notified).hasValue(1);
		assertThat(lease.isHeld()).isFalse();
		assertThat(lease.remaining()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
			.withMessageContaining("lease time of 5000 ms expired");
		lease.onLost((loss) -> notified.incrementAndGet());
		this.time.settle();
		assertThat(notified).hasValue(2);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		assertThat(closing(this.registry.acquire(REQUEST))).isTrue();
	}

	@Test
	void aFixedLeaseLastsAsRequestedThoughTheStoreLimitsLeases() {
		Duration limit = Duration.ofSeconds(5);
		this.store.limitLeases(limit);
		Lease lease = this.registry.acquire(REQUEST.withLeaseTime(Duration.ofMinutes(1)));
		assertThat(lease.remaining()).isEqualTo(Duration.ofMillis(4948));
		AtomicInteger notified = new AtomicInteger();
		lease.onLost((loss) -> notified.incrementAndGet());
		this.time.advance(Duration.ofSeconds(59));
		assertThat(lease.isHeld()).isTrue();
		assertThat(notified).hasValue(0);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(notified).hasValue(1);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
			.withMessageContaining("lease time of 60000 ms expired");
	}

	@Test
	void aClosedLeaseIsNotNotifiedOfALaterLoss() {
		Lease outer = this.registry.acquire(REQUEST.withLeaseTime(Duration.ofSeconds(1)));
		Lease inner = this.registry.acquire(REQUEST);
		AtomicBoolean innerTold = new AtomicBoolean();
		AtomicBoolean outerTold = new AtomicBoolean();
		inner.onLost((loss) -> innerTold.set(true));
		outer.onLost((loss) -> outerTold.set(true));
		inner.close();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(outerTold).isTrue();
		assertThat(innerTold).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(outer::close);
	}

	@Test
	void aLeaseThatRunsOutWhileItsAnswerIsOnTheWayIsNotHandedOut() {
		this.store.acquire.loseAnswers(() -> {
			if (this.store.acquire.calls() == 1) {
				this.time.advance(Duration.ofSeconds(5));
			}
			return false;
		});
		try (Lease lease = this.registry.acquire(REQUEST.withLeaseTime(Duration.ofSeconds(5)))) {
			assertThat(this.store.acquire.calls()).isEqualTo(2);
			assertThat(lease.isHeld()).isTrue();
		}
	}

	@Test
	void aClosedLeaseIsNotHeld() {
		Lease lease = this.registry.acquire(REQUEST);
		// The instance that times the lease allows for clocks that differ by a hundredth
		assertThat(lease.remaining()).isEqualTo(Duration.ofMillis(29_698));
		lease.close();
		assertThat(lease.isHeld()).isFalse();
		assertThat(lease.remaining()).isZero();
		assertThatIllegalStateException().isThrownBy(lease::ensureHeld).withMessageContaining("is closed");
	}

	@Test
	void aBrokenListenerNeverCostsALock() {
		DefaultLockRegistry broken = this.instances.registry(this.store, (event) -> {
			throw new IllegalStateException("expected by the test");
		});
		closing(broken.acquire(REQUEST));
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void listenersAreNotifiedInOrder() {
		closing(this.registry.acquire(REQUEST));
		assertThat(this.events).hasSize(2);
		assertThat(this.events.get(0)).isInstanceOf(LockEvent.Acquired.class);
		assertThat(this.events.get(1)).isInstanceOf(LockEvent.Released.class);
		assertThat(this.events).allSatisfy((event) -> assertThat(event.key()).isEqualTo(KEY));
	}

	@Test
	void nothingIsKeptForLocksThatNobodyHoldsOrWaitsFor() {
		for (int i = 0; i < 1000; i++) {
			closing(this.registry.acquire(LockRequest.of("stock", i)));
		}
		assertThat(this.registry.activeLocks()).isZero();
		assertThat(this.registry.backgroundActions()).isZero();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void aWaiterAsksAgainWhenMessagesMayHaveBeenMissed() throws Exception {
		FaultInjectingStore faulty = this.instances.store();
		DefaultLockRegistry other = this.instances.registry(faulty);
		Lease lease = this.registry.acquire(REQUEST);
		Call<Boolean> waiter = Callers.start(() -> closing(other.acquire(REQUEST)));
		this.time.awaitParked(1);
		this.memory.clear();
		faulty.missMessages();
		assertThat(waiter.get()).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
	}

	@Test
	void aWaiterGetsTheLockAsSoonAsTheLeaseOfADeadHolderHasEnded() {
		this.instances.holdElsewhere(KEY, Duration.ofSeconds(10));
		long start = this.time.now();
		this.time.letPass(() -> this.registry.acquire(REQUEST.withWaitTime(Duration.ofMinutes(1)))).close();
		// A store that counts in milliseconds may know the owner for one more
		assertThat(Duration.ofNanos(this.time.now() - start)).isEqualTo(Duration.ofMillis(10_002));
	}

	@Test
	void aWaiterThatGivesUpLeavesTheQueueOfTheStore() throws Exception {
		OwnerToken foreign = this.instances.holdElsewhere(KEY, Duration.ofSeconds(30));
		assertThat(this.time.letPass(() -> this.registry.tryAcquire(REQUEST))).isEmpty();
		this.time.settle();
		assertThat(this.store.withdraw.calls()).isEqualTo(1);
		this.instances.releaseElsewhere(KEY, foreign);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void shutdownRefusesNewcomersAndWaitersAndLetsTheHolderFinish() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Call<Boolean> waiter = Callers.start(() -> closing(this.registry.acquire(REQUEST)));
		this.time.awaitParked(1);
		Call<Boolean> shutdown = Callers.start(() -> {
			this.registry.drain();
			return true;
		});
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(waiter::get)
			.withMessageContaining("shutting down");
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.registry.acquire(LockRequest.of("stock", 1002)));
		try (Lease nested = this.registry.acquire(REQUEST)) {
			assertThat(nested.isHeld()).isTrue();
		}
		this.time.awaitParked(1);
		lease.close();
		assertThat(shutdown.get()).isTrue();
		this.registry.open();
		assertThat(closing(this.registry.acquire(REQUEST))).isTrue();
	}

	/** As a container that no longer waits for a shutdown closes it. */
	@Test
	void theEndOfARegistryWaitsForTheHolderThatAShutdownWaitsFor() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Call<Boolean> shutdown = Callers.start(() -> {
			this.registry.drain();
			return true;
		});
		this.time.awaitParked(1);
		Call<Boolean> end = Callers.start(() -> {
			this.registry.close();
			return true;
		});
		this.time.awaitParked(2);
		lease.ensureHeld();
		lease.close();
		assertThat(shutdown.get() && end.get()).isTrue();
	}

	@Test
	void aRegistryOpensAgainAfterADrainButNotAfterItsEnd() {
		this.registry.drain();
		this.registry.open();
		assertThat(closing(this.registry.acquire(REQUEST))).isTrue();
		this.registry.close();
		assertThatIllegalStateException().isThrownBy(this.registry::open).withMessageContaining("create a new one");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.registry.acquire(REQUEST));
	}

	@Test
	void shutdownEndsTheWaitOfTheOneThatAsksTheStore() throws Exception {
		this.instances.holdElsewhere(KEY, Duration.ofSeconds(30));
		Call<Boolean> waiter = Callers.start(() -> closing(this.registry.acquire(REQUEST)));
		this.time.awaitParked(1);
		this.registry.drain();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(waiter::get);
	}

	@Test
	void shutdownDoesNotWaitForALockThatIsLost() {
		Lease lease = this.registry.acquire(REQUEST);
		this.store.renew.loseRequests(() -> true);
		this.time.advance(EngineSettings.DEFAULTS.leaseTime());
		assertThat(lease.isHeld()).isFalse();
		long start = this.time.now();
		this.time.letPass(this.registry::drain);
		assertThat(this.time.now()).isEqualTo(start);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
	}

	@Test
	void shutdownNeverReleasesUnderABodyThatOutlivesIt() {
		Lease lease = this.registry.acquire(REQUEST);
		long start = this.time.now();
		this.time.letPass(this.registry::close);
		assertThat(Duration.ofNanos(this.time.now() - start)).isEqualTo(EngineSettings.DEFAULTS.shutdownTimeout());
		assertThat(lease.isHeld()).isTrue();
		assertThat(this.store.release.calls()).isZero();
		lease.close();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	private void assertNothingLeft() {
		this.time.settle();
		assertThat(this.registry.activeLocks()).isZero();
		assertThat(this.registry.backgroundActions()).isZero();
	}

	private static boolean closing(Lease lease) {
		try (lease) {
			return lease.isHeld();
		}
	}

}
