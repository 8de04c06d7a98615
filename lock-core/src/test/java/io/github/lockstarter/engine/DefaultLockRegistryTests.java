// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class DefaultLockRegistryTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final LockRequest REQUEST = LockRequest.of(KEY);

	private static final LockRequest AT_ONCE = REQUEST.withWaitTime(Duration.ZERO);

	private static final EngineSettings SETTINGS = new EngineSettings(Duration.ofSeconds(20), Duration.ofSeconds(30), 3,
			Duration.ofSeconds(1), Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofSeconds(5));

	private static final EngineSettings NO_POLLING = new EngineSettings(Duration.ofSeconds(20), Duration.ofSeconds(30),
			3, Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofMillis(50), Duration.ofSeconds(5));

	private final LockMemory memory = new LockMemory();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(this.memory));

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final DefaultLockRegistry registry = new DefaultLockRegistry(this.store, SETTINGS, this.events::add);

	@AfterEach
	void close() {
		this.registry.close();
	}

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
				.start(() -> closing(this.registry.acquire(REQUEST.withWaitTime(Duration.ofMillis(20)))));
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(other::get)
				.withMessageContaining("'stock:1001'")
				.satisfies((ex) -> assertThat(ex.getWaited()).isBetween(Duration.ofMillis(20), Duration.ofSeconds(5)))
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
	void onlyTheFirstOfManyWaitersAsksTheStore() throws Exception {
		OwnerToken foreign = OwnerToken.random();
		new StoreClient(this.store).acquire(KEY, foreign, Duration.ofSeconds(30), false);
		List<Call<Boolean>> waiters = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			waiters.add(Callers.start(() -> closing(this.registry.acquire(REQUEST))).awaitParked());
		}
		assertThat(this.store.acquire.calls()).isLessThanOrEqualTo(1 + 2);
		new StoreClient(this.store).release(KEY, foreign, null);
		for (Call<Boolean> waiter : waiters) {
			assertThat(waiter.get()).isTrue();
		}
	}

	@Test
	void waitersOfOneJvmAreServedInTheOrderOfArrival() throws Exception {
		List<Integer> order = new CopyOnWriteArrayList<>();
		List<Call<Boolean>> waiters = new ArrayList<>();
		Lease lease = this.registry.acquire(REQUEST);
		for (int i = 0; i < 8; i++) {
			int number = i;
			waiters.add(Callers.start(() -> {
				try (Lease held = this.registry.acquire(REQUEST)) {
					return order.add(number);
				}
			}).awaitParked());
		}
		lease.close();
		for (Call<Boolean> waiter : waiters) {
			waiter.get();
		}
		assertThat(order).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
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
		OwnerToken foreign = OwnerToken.random();
		new StoreClient(this.store).acquire(KEY, foreign, Duration.ofSeconds(30), false);
		Call<Boolean> waiter = Callers.start(() -> {
			try {
				return closing(this.registry.acquire(REQUEST));
			}
			catch (LockInterruptedException ex) {
				return Thread.currentThread().isInterrupted();
			}
		}).awaitParked();
		waiter.thread().interrupt();
		assertThat(waiter.get()).isTrue();
		awaitNothingLeft();
		awaitNobodyInLine();
		new StoreClient(this.store).release(KEY, foreign, null);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	@Test
	void anInterruptInTheLocalQueueDoesNotLoseTheTurn() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Call<Boolean> interrupted = Callers.start(() -> closing(this.registry.acquire(REQUEST))).awaitParked();
		Call<Boolean> next = Callers.start(() -> closing(this.registry.acquire(REQUEST))).awaitParked();
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
	void aLostAnswerToAnAcquisitionIsFoundAgainByTheNextAttempt() {
		this.store.acquire.loseAnswers(() -> this.store.acquire.calls() == 1);
		try (Lease lease = this.registry.acquire(REQUEST)) {
			assertThat(lease.isHeld()).isTrue();
		}
		assertThat(this.store.acquire.calls()).isEqualTo(2);
		assertThat(new StoreClient(this.store).acquire(KEY, OwnerToken.random(), Duration.ofSeconds(1), false))
			.isInstanceOf(LockGrant.class);
	}

	@Test
	void anAcquisitionOfUnknownOutcomeIsReleasedInTheBackground() {
		this.store.acquire.loseAnswers(() -> this.store.acquire.calls() == 1);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.registry.acquire(AT_ONCE))
			.withMessageContaining("'stock:1001'")
			.withMessageContaining("answer lost")
			.withCauseInstanceOf(FaultInjectingStore.StoreFault.class);
		assertThat(this.registry.tryAcquire(REQUEST)).hasValueSatisfying(Lease::close);
	}

	@Test
	void anOutageIsNotContention() {
		this.store.acquire.loseRequests(() -> true);
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.registry.tryAcquire(REQUEST.withWaitTime(Duration.ofSeconds(1))));
		assertThat(this.store.acquire.calls()).isGreaterThan(1);
		assertThat(this.events).singleElement().isInstanceOf(LockEvent.Unavailable.class);
	}

	@Test
	void aStoreThatWillNotChangeItsMindIsAskedOnce() {
		this.store.acquire.refuse();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.registry.acquire(REQUEST))
			.withMessageContaining("not allowed");
		assertThat(this.store.acquire.calls()).isOne();
		Awaitility.await().until(() -> this.store.release.calls() > 0);
	}

	@Test
	void aWaitSurvivesAnOutageThatEndsInTime() {
		this.store.acquire.loseRequests(() -> this.store.acquire.calls() < 4);
		assertThat(closing(this.registry.acquire(REQUEST))).isTrue();
	}

	@Test
	void aFailedReleaseIsNoErrorForTheCallerAndIsTriedAgain() {
		this.store.release.loseRequests(() -> this.store.release.calls() < 2);
		closing(this.registry.acquire(REQUEST));
		Awaitility.await().untilAsserted(() -> assertThat(this.memory.isEmpty()).isTrue());
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.events).hasAtLeastOneElementOfType(LockEvent.ReleaseFailed.class));
		assertThat(this.store.renew.calls()).isZero();
		awaitNothingLeft();
	}

	@Test
	void aLostAnswerToAReleaseIsNoLoss() {
		this.store.release.loseAnswers(() -> this.store.release.calls() == 1);
		closing(this.registry.acquire(REQUEST));
		awaitNothingLeft();
		assertThat(this.store.release.calls()).isEqualTo(2);
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.events).hasAtLeastOneElementOfType(LockEvent.ReleaseFailed.class));
		assertThat(this.events).noneMatch(LockEvent.Lost.class::isInstance);
	}

	@Test
	void aLockThatIsKeptIsNotReleasedThoughItsGrantWasUncertain() {
		this.store.acquire.loseAnswers(() -> this.store.acquire.calls() == 1);
		Lease lease = this.registry.acquire(REQUEST);
		lease.holdAtLeast(Duration.ofHours(1));
		lease.close();
		Awaitility.await().until(() -> this.store.release.calls() > 1);
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
	void aRequestThatArrivesAfterItsTenureIsOverIsReleased() {
		this.store.acquire.loseRequests(() -> this.store.acquire.calls() == 1);
		Lease lease = this.registry.acquire(REQUEST);
		assertThat(this.store.acquire.calls()).isEqualTo(2);
		LeaseRequest late = this.store.lastAcquired();
		lease.close();
		MemoryLockStore network = new MemoryLockStore(this.memory);
		new StoreClient(network).acquire(late.key(), late.owner(), late.leaseTime(), false);
		OwnerToken next = OwnerToken.random();
		Awaitility.await()
			.until(() -> new StoreClient(network).acquire(KEY, next, Duration.ofSeconds(30),
					false) instanceof LockGrant);
	}

	@Test
	void aFixedLeaseThatExpiresIsLostAndItsOwnerIsNotified() throws Exception {
		Lease lease = this.registry.acquire(REQUEST.withLeaseTime(Duration.ofMillis(250)));
		CountDownLatch notified = new CountDownLatch(1);
		lease.onLost((loss) -> notified.countDown());
		assertThat(notified.await(10, TimeUnit.SECONDS)).isTrue();
		assertThat(lease.isHeld()).isFalse();
		assertThat(lease.remaining()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
			.withMessageContaining("lease time of 250 ms expired");
		lease.onLost((loss) -> notified.countDown());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		assertThat(closing(this.registry.acquire(REQUEST))).isTrue();
	}

	@Test
	void aFixedLeaseLastsAsRequestedThoughTheStoreLimitsLeases() throws Exception {
		// A renewal counts for as long as a standstill, and the lease for a little longer
		Duration limit = Duration.ofSeconds(5);
		this.store.limitLeases(limit);
		EngineSettings settings = new EngineSettings(Duration.ofSeconds(20), Duration.ofSeconds(30), 20,
				Duration.ofSeconds(1), Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofSeconds(5));
		try (DefaultLockRegistry renewing = new DefaultLockRegistry(this.store, settings, LockListener.NO_OP)) {
			long start = System.nanoTime();
			Lease lease = renewing.acquire(REQUEST.withLeaseTime(Duration.ofMillis(5500)));
			assertThat(lease.remaining()).isLessThanOrEqualTo(limit);
			CountDownLatch notified = new CountDownLatch(1);
			lease.onLost((loss) -> notified.countDown());
			assertThat(notified.await(20, TimeUnit.SECONDS)).isTrue();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(5400));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::ensureHeld)
				.withMessageContaining("lease time of 5500 ms expired");
		}
	}

	@Test
	void aClosedLeaseIsNotNotifiedOfALaterLoss() throws Exception {
		Lease outer = this.registry.acquire(REQUEST.withLeaseTime(Duration.ofSeconds(1)));
		Lease inner = this.registry.acquire(REQUEST);
		AtomicBoolean innerTold = new AtomicBoolean();
		CountDownLatch outerTold = new CountDownLatch(1);
		inner.onLost((loss) -> innerTold.set(true));
		outer.onLost((loss) -> outerTold.countDown());
		inner.close();
		assertThat(outerTold.await(20, TimeUnit.SECONDS)).isTrue();
		assertThat(innerTold).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(outer::close);
	}

	@Test
	void aLeaseThatRunsOutWhileItsAnswerIsOnTheWayIsNotHandedOut() {
		DefaultLockRegistry slow = new DefaultLockRegistry(new FaultInjectingStore(new MemoryLockStore(this.memory)),
				SETTINGS, LockListener.NO_OP);
		try (slow) {
			this.store.acquire.loseAnswers(() -> {
				long end = System.nanoTime() + Duration.ofMillis(15).toNanos();
				while (this.store.acquire.calls() == 1 && System.nanoTime() - end < 0) {
					Thread.onSpinWait();
				}
				return false;
			});
			try (Lease lease = this.registry.acquire(REQUEST.withLeaseTime(Duration.ofMillis(12)))) {
				assertThat(this.store.acquire.calls()).isGreaterThan(1);
			}
			catch (LockLostException ex) {
				// A lease of 12 ms may expire here; it only matters that the first one
				// was not used
				assertThat(this.store.acquire.calls()).isGreaterThan(1);
			}
		}
	}

	@Test
	void aClosedLeaseIsNotHeld() {
		Lease lease = this.registry.acquire(REQUEST);
		assertThat(lease.remaining()).isBetween(Duration.ofSeconds(25), Duration.ofSeconds(30));
		lease.close();
		assertThat(lease.isHeld()).isFalse();
		assertThat(lease.remaining()).isZero();
		assertThatIllegalStateException().isThrownBy(lease::ensureHeld).withMessageContaining("is closed");
	}

	@Test
	void aBrokenListenerNeverCostsALock() {
		DefaultLockRegistry broken = new DefaultLockRegistry(this.store, SETTINGS, (event) -> {
			throw new IllegalStateException("expected by the test");
		});
		try (broken) {
			closing(broken.acquire(REQUEST));
			assertThat(this.memory.isEmpty()).isTrue();
		}
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
		FaultInjectingStore faulty = new FaultInjectingStore(new MemoryLockStore(this.memory));
		DefaultLockRegistry other = new DefaultLockRegistry(faulty, NO_POLLING, LockListener.NO_OP);
		try (other) {
			Lease lease = this.registry.acquire(REQUEST);
			Call<Boolean> waiter = Callers.start(() -> closing(other.acquire(REQUEST))).awaitParked();
			this.memory.clear();
			int asked = faulty.acquire.calls();
			faulty.missMessages();
			Awaitility.await().until(() -> faulty.acquire.calls() > asked);
			assertThat(waiter.get()).isTrue();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lease::close);
		}
	}

	@Test
	void aWaiterThatGivesUpLeavesTheQueueOfTheStore() throws Exception {
		OwnerToken foreign = OwnerToken.random();
		new StoreClient(this.store).acquire(KEY, foreign, Duration.ofSeconds(30), false);
		assertThat(this.registry.tryAcquire(REQUEST.withWaitTime(Duration.ofMillis(30)))).isEmpty();
		Awaitility.await().untilAsserted(() -> assertThat(this.store.withdraw.calls()).isEqualTo(1));
		awaitNobodyInLine();
		new StoreClient(this.store).release(KEY, foreign, null);
		assertThat(this.memory.isEmpty()).isTrue();
	}

	private void awaitNobodyInLine() {
		StoreClient client = new StoreClient(new MemoryLockStore(this.memory));
		Awaitility.await().until(() -> !client.isAwaited(KEY));
	}

	@Test
	void shutdownRefusesNewcomersAndWaitersAndLetsTheHolderFinish() throws Exception {
		Lease lease = this.registry.acquire(REQUEST);
		Call<Boolean> waiter = Callers.start(() -> closing(this.registry.acquire(REQUEST))).awaitParked();
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
		shutdown.awaitParked();
		lease.close();
		assertThat(shutdown.get()).isTrue();
		this.registry.open();
		assertThat(closing(this.registry.acquire(REQUEST))).isTrue();
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
		new StoreClient(this.store).acquire(KEY, OwnerToken.random(), Duration.ofSeconds(30), false);
		Call<Boolean> waiter = Callers.start(() -> closing(this.registry.acquire(REQUEST))).awaitParked();
		this.registry.drain();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(waiter::get);
	}

	@Test
	void shutdownNeverReleasesUnderABodyThatOutlivesIt() {
		EngineSettings impatient = new EngineSettings(Duration.ofSeconds(20), Duration.ofSeconds(30), 3,
				Duration.ofSeconds(1), Duration.ofMillis(100), Duration.ofMillis(50), Duration.ofMillis(20));
		DefaultLockRegistry stopping = new DefaultLockRegistry(this.store, impatient, LockListener.NO_OP);
		Lease lease = stopping.acquire(REQUEST);
		stopping.close();
		assertThat(lease.isHeld()).isTrue();
		assertThat(this.store.release.calls()).isZero();
		lease.close();
		assertThat(this.memory.isEmpty()).isTrue();
	}

	private void awaitNothingLeft() {
		Awaitility.await().untilAsserted(() -> {
			assertThat(this.registry.activeLocks()).isZero();
			assertThat(this.registry.backgroundActions()).isZero();
		});
	}

	private static boolean closing(Lease lease) {
		try (lease) {
			return lease.isHeld();
		}
	}

}
