// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.memory.LockMemory;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LeaseWatchdogTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final ManualTime time = new ManualTime();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(new LockMemory(this.time)));

	private final Timetable timetable = new Timetable(this.time);

	private final List<LockEvent> events = new ArrayList<>();

	private final LeaseEvents notice = new LeaseEvents("memory", this.events::add, Runnable::run, Runnable::run,
			EngineProbe.outages(this.timetable));

	private final Deque<Runnable> held = new ArrayDeque<>();

	private boolean storeThreadsStuck;

	private boolean storeThreadsFailing;

	private final StoreClient client = new StoreClient(this.store);

	private final Orphans orphans = new Orphans(this.store, this.timetable, this::onStoreThread, () -> {
	});

	private final List<Hold> holds = new ArrayList<>();

	private final LeaseWatchdog watchdog = watchdog(3);

	@BeforeEach
	void start() {
		this.timetable.start();
	}

	@Test
	void renewsAtAThirdOfTheLeaseForAsLongAsItIsHeld() {
		Ownership ownership = begin(KEY, true);
		this.time.advance(Duration.ofMinutes(10));
		assertThat(ownership.isHeld()).isTrue();
		assertThat(this.store.renew.calls()).isBetween(60, 67);
		assertThat(this.events).isEmpty();
	}

	@Test
	void doubtsALeaseBeforeItsRenewalIsDueIfTheStoreMayBeOutOfReach() {
		Ownership ownership = begin(KEY, true);
		this.store.renew.loseRequests(() -> true);
		this.watchdog.hasten(ownership);
		this.timetable.runDue();
		assertThat(this.events).singleElement().isInstanceOf(LockEvent.Suspect.class);
	}

	@Test
	void renewsAsOftenWithinALeaseAsConfigured() {
		LeaseWatchdog eager = watchdog(10);
		eager.watch(granted(KEY, true));
		this.time.advance(LEASE.multipliedBy(10));
		assertThat(this.store.renew.calls()).isBetween(100, 111);
	}

	@Test
	void renewsALeaseAgainThatOutlastsAPause() {
		Ownership ownership = begin(KEY, true);
		this.watchdog.setRenewing(false);
		this.time.advance(LEASE.multipliedBy(9).dividedBy(10));
		assertThat(this.store.renew.calls()).isZero();
		this.watchdog.setRenewing(true);
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(ownership.isHeld()).isTrue();
		assertThat(this.store.renew.calls()).isBetween(9, 11);
	}

	@Test
	void losesALeaseThatAPauseOutlasts() {
		Ownership ownership = begin(KEY, true);
		this.watchdog.setRenewing(false);
		this.time.advance(LEASE);
		assertThat(ownership.isLost()).isTrue();
		assertThat(this.store.renew.calls()).isZero();
	}

	@Test
	void asksForAFixedLeaseWithoutExtendingItAndNoticesItsEnd() {
		Ownership ownership = begin(KEY, false);
		long deadline = ownership.deadline();
		this.time.advance(LEASE.minusMillis(400));
		assertThat(this.store.renew.calls()).isBetween(2, 3);
		assertThat(ownership.deadline()).isEqualTo(deadline);
		assertThat(ownership.isHeld()).isTrue();
		this.time.advance(Duration.ofMillis(400));
		assertThat(ownership.isLost()).isTrue();
		assertThat(this.events).singleElement().isInstanceOf(LockEvent.Lost.class);
		assertThat(this.client.acquire(KEY, OwnerToken.random(), LEASE, false)).isInstanceOf(AcquireResult.Grant.class);
		this.time.advance(LEASE);
		assertThat(this.store.renew.calls()).isBetween(2, 3);
		assertThat(this.timetable.size()).isZero();
	}

	@Test
	void renewsALeaseInTimeThatCountsForLessThanRequested() {
		this.store.limitLeases(LEASE.dividedBy(3));
		Ownership ownership = begin(KEY, true);
		this.time.advance(Duration.ofMinutes(10));
		assertThat(ownership.isHeld()).isTrue();
		assertThat(this.store.renew.calls()).isBetween(180, 205);
		this.store.renew.loseRequests(() -> true);
		this.time.advance(LEASE.dividedBy(3));
		assertThat(ownership.isLost()).isTrue();
	}

	@Test
	void countsARenewalForAsLongAsTheStoreAllowsAfterIt() {
		Ownership ownership = begin(KEY, true);
		this.store.limitLeases(LEASE.dividedBy(10));
		this.time.advance(LEASE.dividedBy(3));
		assertThat(this.store.renew.calls()).isPositive();
		assertThat(ownership.remainingNanos()).isBetween(1L, LEASE.dividedBy(10).toNanos());
	}

	@Test
	void countsARenewalFromBeforeItsRequest() {
		Duration underWay = Duration.ofSeconds(5);
		Ownership ownership = begin(KEY, true);
		this.store.renew.loseAnswers(() -> {
			this.time.advance(underWay);
			return false;
		});
		this.time.advance(LEASE.dividedBy(3));
		assertThat(this.store.renew.calls()).isOne();
		assertThat(Duration.ofNanos(ownership.remainingNanos())).isPositive().isLessThan(LEASE.minus(underWay));
	}

	@Test
	void aFixedLeaseThatIsLongerThanTheStoreAllowsIsRenewedUntilItsEnd() {
		this.store.limitLeases(LEASE.dividedBy(3));
		Ownership ownership = begin(KEY, false);
		Hold hold = this.holds.get(0);
		assertThat(hold.needsLimit()).isTrue();
		this.time.advance(LEASE.minusMillis(400));
		assertThat(ownership.isHeld()).isTrue();
		assertThat(hold.isHeld()).isTrue();
		this.time.advance(Duration.ofMillis(400));
		assertThat(hold.isHeld()).isFalse();
	}

	@Test
	void aFixedLeaseThatIsRenewedIsFreeAtItsEndAfterACrash() {
		this.store.limitLeases(LEASE.dividedBy(3));
		begin(KEY, false);
		Duration rest = Duration.ofMillis(500);
		this.time.advance(LEASE.minus(rest));
		assertThat(this.store.renew.calls()).isBetween(8, 14);
		// Nobody notices the end any more
		this.timetable.close();
		this.time.advance(rest.plusMillis(1));
		assertThat(this.client.acquire(KEY, OwnerToken.random(), LEASE, false)).isInstanceOf(AcquireResult.Grant.class);
	}

	@Test
	void aHandedOnFixedLeaseIsFreeAtItsEndAfterACrash() {
		Ownership ownership = begin(KEY, true);
		this.time.advance(LEASE.dividedBy(2));
		Duration fixed = LEASE.multipliedBy(4);
		ownership.beginHold(new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, fixed, null, Thread.currentThread()), this.time.now());
		this.watchdog.watch(ownership);
		Duration rest = Duration.ofSeconds(1);
		this.time.advance(fixed.minus(rest));
		assertThat(ownership.isHeld()).isTrue();
		assertThat(ownership.needsRenewal()).isFalse();
		this.timetable.close();
		// The instance that times the lease allows for clocks that differ by a hundredth
		this.time.advance(rest.plus(fixed.dividedBy(100)));
		assertThat(this.client.acquire(KEY, OwnerToken.random(), LEASE, false)).isInstanceOf(AcquireResult.Grant.class);
	}

	@Test
	void asksForALongFixedLeaseAsOftenAsOthersAreRenewed() {
		OwnerToken owner = OwnerToken.random();
		AcquireResult.Grant grant = (AcquireResult.Grant) this.client.acquire(KEY, owner, LEASE.multipliedBy(20),
				false);
		begin(KEY, owner, grant, LEASE.multipliedBy(20));
		this.time.advance(LEASE.multipliedBy(10));
		assertThat(this.store.renew.calls()).isBetween(30, 34);
	}

	@Test
	void losesAFixedLeaseAsSoonAsTheStoreNoLongerKnowsTheOwner() {
		Ownership ownership = begin(KEY, false);
		this.client.release(KEY, ownership.owner());
		this.time.advance(LEASE.dividedBy(3));
		assertThat(ownership.isLost()).isTrue();
		assertThat(ownership.lossReason()).contains("no longer knew its owner");
	}

	@Test
	void aFixedLeaseIsHeldUntilItsEndThoughTheStoreDoesNotAnswer() {
		Ownership ownership = begin(KEY, false);
		this.store.renew.loseRequests(() -> true);
		this.time.advance(LEASE.minusMillis(400));
		assertThat(ownership.isHeld()).isTrue();
		assertThat(this.events).singleElement().isInstanceOf(LockEvent.Suspect.class);
		this.time.advance(Duration.ofMillis(400));
		assertThat(ownership.isLost()).isTrue();
	}

	@Test
	void aLookUpThatIsAnsweredEndsTheSuspicionOfAFixedLease() {
		Ownership ownership = begin(KEY, false);
		int[] failures = { 1 };
		this.store.renew.loseRequests(() -> failures[0]-- > 0);
		this.time.advance(LEASE.dividedBy(2));
		assertThat(ownership.isConfirmed()).isTrue();
		assertThat(this.events).hasSize(2);
		assertThat(this.events.get(0)).isInstanceOf(LockEvent.Suspect.class);
		assertThat(this.events.get(1)).isInstanceOf(LockEvent.Recovered.class);
	}

	@Test
	void anExpiredFixedLeaseIsReleasedOnceAndNotForAnotherLease() {
		begin(KEY, false);
		this.time.advance(LEASE.plusSeconds(1));
		assertThat(this.store.release.calls()).isBetween(1, 2);
		this.time.advance(LEASE);
		assertThat(this.store.release.calls()).isBetween(1, 2);
	}

	@Test
	void oneFailingRenewalDoesNotEndRenewal() {
		Ownership ownership = begin(KEY, true);
		int[] failures = { 1 };
		this.store.renew.loseRequests(() -> failures[0]-- > 0);
		this.time.advance(Duration.ofMinutes(5));
		assertThat(ownership.isHeld()).isTrue();
		assertThat(this.events).hasSize(2);
		assertThat(this.events.get(0)).isInstanceOf(LockEvent.Suspect.class);
		assertThat(this.events.get(1)).isInstanceOf(LockEvent.Recovered.class);
	}

	@Test
	void triesAgainEveryTwentiethOfTheLeaseUntilTheDeadlineAndNotLonger() {
		Ownership ownership = begin(KEY, true);
		this.store.renew.loseRequests(() -> true);
		long deadline = ownership.deadline();
		this.time.advance(Duration.ofNanos(deadline - this.time.now()).minusMillis(5));
		assertThat(ownership.isLost()).isFalse();
		assertThat(this.store.renew.calls()).isBetween(12, 16);
		this.time.advance(Duration.ofMillis(5));
		assertThat(ownership.isLost()).isTrue();
		assertThat(this.events).hasSize(2);
		assertThat(this.events.get(1)).isInstanceOf(LockEvent.Lost.class);
	}

	@Test
	void aLostAnswerToARenewalIsNoLoss() {
		Ownership ownership = begin(KEY, true);
		int[] losses = { 3 };
		this.store.renew.loseAnswers(() -> losses[0]-- > 0);
		this.time.advance(Duration.ofMinutes(2));
		assertThat(ownership.isHeld()).isTrue();
	}

	@Test
	void losesTheLockAsSoonAsTheStoreNoLongerKnowsTheOwner() {
		Ownership ownership = begin(KEY, true);
		this.client.release(KEY, ownership.owner());
		this.time.advance(LEASE.dividedBy(3));
		assertThat(ownership.isLost()).isTrue();
		assertThat(ownership.lossReason()).contains("no longer knew its owner");
	}

	@Test
	void aStoreThatNeverAnswersDelaysNeitherTheDeadlineNorTheLossOfOthers() {
		Ownership first = begin(KEY, true);
		this.storeThreadsStuck = true;
		this.time.advance(LEASE);
		assertThat(first.isLost()).isTrue();
		Ownership second = begin(LockKey.of("other"), true);
		this.time.advance(LEASE);
		assertThat(second.isLost()).isTrue();
	}

	@Test
	void aRenewalAnsweredAfterTheLossDoesNotReviveTheLeaseAndIsReleased() {
		Ownership ownership = begin(KEY, true);
		this.storeThreadsStuck = true;
		this.time.advance(LEASE.minusMillis(302));
		assertThat(ownership.isLost()).isTrue();
		this.storeThreadsStuck = false;
		while (!this.held.isEmpty()) {
			this.held.poll().run();
		}
		this.time.advance(Duration.ofMillis(1));
		assertThat(ownership.isLost()).isTrue();
		assertThat(this.client.acquire(KEY, OwnerToken.random(), LEASE, false)).isInstanceOf(AcquireResult.Grant.class);
	}

	@Test
	void aLeaseIsRenewedLaterWhoseRenewalHasFoundNoMemory() {
		Ownership ownership = begin(KEY, true);
		this.storeThreadsFailing = true;
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> this.time.advance(LEASE.dividedBy(3)));
		this.storeThreadsFailing = false;
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(ownership.isHeld()).isTrue();
		assertThat(this.timetable.size()).isOne();
	}

	@Test
	void nothingIsLeftOnceTheLeaseIsForgotten() {
		Ownership ownership = begin(KEY, true);
		this.time.advance(Duration.ofMinutes(1));
		ownership.release();
		this.watchdog.forget(ownership);
		assertThat(this.timetable.size()).isZero();
		int renewals = this.store.renew.calls();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.store.renew.calls()).isEqualTo(renewals);
	}

	@Test
	void aReleaseWhileARenewalIsUnderWayLeavesNothing() {
		Ownership ownership = begin(KEY, true);
		this.storeThreadsStuck = true;
		this.time.advance(LEASE.dividedBy(3));
		assertThat(this.held).hasSize(1);
		ownership.release();
		this.watchdog.forget(ownership);
		this.held.poll().run();
		assertThat(this.timetable.size()).isZero();
		assertThat(ownership.isLost()).isFalse();
	}

	/** In a store of several servers, a late renewal may have taken the lock again. */
	@Test
	void aLockThatWasReleasedWhileItsRenewalWasSentIsReleasedAgain() {
		Ownership ownership = begin(KEY, true);
		ownership.release();
		ownership.answered();
		send(ownership);
		assertThat(this.client.acquire(KEY, OwnerToken.random(), LEASE, false)).isInstanceOf(AcquireResult.Grant.class);
	}

	@Test
	void aLockThatIsKeptIsNotReleasedByItsLastRenewal() {
		Ownership ownership = begin(KEY, true);
		ownership.keep();
		send(ownership);
		assertThat(this.store.release.calls()).isZero();
	}

	private void send(Ownership ownership) {
		LeaseWatchdog.Renewal renewal = this.watchdog.begin(ownership);
		this.store.renew(List.of(renewal.request()));
		this.watchdog.sent(renewal);
	}

	@Test
	void afterStopItOnlyWatchesDeadlines() {
		Ownership ownership = begin(KEY, true);
		this.watchdog.setRenewing(false);
		this.time.advance(LEASE);
		assertThat(this.store.renew.calls()).isZero();
		assertThat(ownership.isLost()).isTrue();
	}

	/**
	 * The thread that keeps time may renew the lease before the thread that has asked for
	 * it continues.
	 */
	@Test
	void watchesALeaseForEverThatIsRenewedAtOnce() {
		Timetable prompt = new Timetable(new PromptTime());
		prompt.start();
		LeaseWatchdog watchdog = watchdog(prompt, 3);
		Ownership ownership = granted(KEY, true);
		watchdog.watch(ownership);
		for (int i = 1; i <= 3; i++) {
			watchdog.hasten(ownership);
			assertThat(this.store.renew.calls()).isEqualTo(i);
			assertThat(prompt.size()).as("the next renewal is due").isOne();
		}
	}

	private Ownership begin(LockKey key, boolean renewable) {
		Ownership ownership = granted(key, renewable);
		this.watchdog.watch(ownership);
		return ownership;
	}

	private Ownership granted(LockKey key, boolean renewable) {
		OwnerToken owner = OwnerToken.random();
		AcquireResult.Grant grant = (AcquireResult.Grant) this.client.acquire(key, owner, LEASE, false);
		Waiter waiter = new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, renewable ? null : LEASE, null, Thread.currentThread());
		Ownership ownership = new Ownership(key, owner, grant, LEASE, this.store.longestLease(), this.time.now(), 0,
				this.timetable);
		this.holds.add(ownership.beginHold(waiter, this.time.now()));
		return ownership;
	}

	private LeaseWatchdog watchdog(int renewalsPerLease) {
		return watchdog(this.timetable, renewalsPerLease);
	}

	private LeaseWatchdog watchdog(Timetable timetable, int renewalsPerLease) {
		return new LeaseWatchdog(this.store, timetable, this::onStoreThread, this.orphans, this.notice, this::lost,
				LEASE, renewalsPerLease);
	}

	private void begin(LockKey key, OwnerToken owner, AcquireResult.Grant grant, Duration fixed) {
		Ownership ownership = new Ownership(key, owner, grant, fixed, this.store.longestLease(), this.time.now(), 0,
				this.timetable);
		ownership.beginHold(new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, fixed, null, Thread.currentThread()), this.time.now());
		this.watchdog.watch(ownership);
	}

	private void lost(Ownership ownership) {
		this.holds.stream()
			.filter((hold) -> hold.ownership() == ownership && hold.lose(ownership.lossReason()))
			.forEach(this.notice::lost);
	}

	private void onStoreThread(Runnable task) {
		if (this.storeThreadsFailing) {
			throw new OutOfMemoryError("it is a test");
		}
		if (this.storeThreadsStuck) {
			this.held.add(task);
		}
		else {
			task.run();
		}
	}

	/** Its thread does what is due before the one that wakes it goes on. */
	private final class PromptTime implements Time {

		private @Nullable Schedule schedule;

		private boolean running;

		@Override
		public long now() {
			return LeaseWatchdogTests.this.time.now();
		}

		@Override
		public void parkUntil(Object blocker, long deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void unpark(Thread thread) {
			if (!this.running && this.schedule != null) {
				this.running = true;
				this.schedule.runDue();
				this.running = false;
			}
		}

		@Override
		public Thread start(Schedule schedule) {
			this.schedule = schedule;
			return Thread.currentThread();
		}

	}

}
