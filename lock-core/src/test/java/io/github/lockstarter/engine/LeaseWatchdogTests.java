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
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.FaultInjectingStore;
import io.github.lockstarter.test.ManualTime;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;

class LeaseWatchdogTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final ManualTime time = new ManualTime();

	private final FaultInjectingStore store = new FaultInjectingStore(new MemoryLockStore(new LockMemory(this.time)));

	private final Timetable timetable = new Timetable(this.time);

	private final List<LockEvent> events = new ArrayList<>();

	private final LossNotice notice = new LossNotice("memory", this.events::add, Runnable::run, Runnable::run,
			EngineProbe.outages(this.timetable));

	private final Deque<Runnable> held = new ArrayDeque<>();

	private boolean storeThreadsStuck;

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
		Tenure tenure = begin(KEY, true);
		this.time.advance(Duration.ofMinutes(10));
		assertThat(tenure.isHeld()).isTrue();
		assertThat(this.store.renew.calls()).isBetween(60, 67);
		assertThat(this.events).isEmpty();
	}

	@Test
	void doubtsALeaseBeforeItsRenewalIsDueIfTheStoreMayBeOutOfReach() {
		Tenure tenure = begin(KEY, true);
		this.store.renew.loseRequests(() -> true);
		this.watchdog.hasten(tenure);
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
		Tenure tenure = begin(KEY, true);
		this.watchdog.setRenewing(false);
		this.time.advance(LEASE.multipliedBy(9).dividedBy(10));
		assertThat(this.store.renew.calls()).isZero();
		this.watchdog.setRenewing(true);
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(tenure.isHeld()).isTrue();
		assertThat(this.store.renew.calls()).isBetween(9, 11);
	}

	@Test
	void losesALeaseThatAPauseOutlasts() {
		Tenure tenure = begin(KEY, true);
		this.watchdog.setRenewing(false);
		this.time.advance(LEASE);
		assertThat(tenure.isLost()).isTrue();
		assertThat(this.store.renew.calls()).isZero();
	}

	@Test
	void asksForAFixedLeaseWithoutExtendingItAndNoticesItsEnd() {
		Tenure tenure = begin(KEY, false);
		long deadline = tenure.deadline();
		this.time.advance(LEASE.minusMillis(400));
		assertThat(this.store.renew.calls()).isBetween(2, 3);
		assertThat(tenure.deadline()).isEqualTo(deadline);
		assertThat(tenure.isHeld()).isTrue();
		this.time.advance(Duration.ofMillis(400));
		assertThat(tenure.isLost()).isTrue();
		assertThat(this.events).singleElement().isInstanceOf(LockEvent.Lost.class);
		assertThat(this.client.acquire(KEY, OwnerToken.random(), LEASE, false)).isInstanceOf(LockAttempt.Grant.class);
		this.time.advance(LEASE);
		assertThat(this.store.renew.calls()).isBetween(2, 3);
		assertThat(this.timetable.size()).isZero();
	}

	@Test
	void renewsALeaseInTimeThatCountsForLessThanRequested() {
		this.store.limitLeases(LEASE.dividedBy(3));
		Tenure tenure = begin(KEY, true);
		this.time.advance(Duration.ofMinutes(10));
		assertThat(tenure.isHeld()).isTrue();
		assertThat(this.store.renew.calls()).isBetween(180, 205);
		this.store.renew.loseRequests(() -> true);
		this.time.advance(LEASE.dividedBy(3));
		assertThat(tenure.isLost()).isTrue();
	}

	@Test
	void countsARenewalForAsLongAsTheStoreAllowsAfterIt() {
		Tenure tenure = begin(KEY, true);
		this.store.limitLeases(LEASE.dividedBy(10));
		this.time.advance(LEASE.dividedBy(3));
		assertThat(this.store.renew.calls()).isPositive();
		assertThat(tenure.remainingNanos()).isBetween(1L, LEASE.dividedBy(10).toNanos());
	}

	@Test
	void countsARenewalFromBeforeItsRequest() {
		Duration underWay = Duration.ofSeconds(5);
		Tenure tenure = begin(KEY, true);
		this.store.renew.loseAnswers(() -> {
			this.time.advance(underWay);
			return false;
		});
		this.time.advance(LEASE.dividedBy(3));
		assertThat(this.store.renew.calls()).isOne();
		assertThat(Duration.ofNanos(tenure.remainingNanos())).isPositive().isLessThan(LEASE.minus(underWay));
	}

	@Test
	void aFixedLeaseThatIsLongerThanTheStoreAllowsIsRenewedUntilItsEnd() {
		this.store.limitLeases(LEASE.dividedBy(3));
		Tenure tenure = begin(KEY, false);
		Hold hold = this.holds.get(0);
		assertThat(hold.needsLimit()).isTrue();
		this.time.advance(LEASE.minusMillis(400));
		assertThat(tenure.isHeld()).isTrue();
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
		assertThat(this.client.acquire(KEY, OwnerToken.random(), LEASE, false)).isInstanceOf(LockAttempt.Grant.class);
	}

	@Test
	void aHandedOnFixedLeaseIsFreeAtItsEndAfterACrash() {
		Tenure tenure = begin(KEY, true);
		this.time.advance(LEASE.dividedBy(2));
		Duration fixed = LEASE.multipliedBy(4);
		tenure.beginHold(new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, fixed, null, Thread.currentThread()), fixed, this.time.now());
		this.watchdog.watch(tenure);
		Duration rest = Duration.ofSeconds(1);
		this.time.advance(fixed.minus(rest));
		assertThat(tenure.isHeld()).isTrue();
		assertThat(tenure.needsRenewal()).isFalse();
		this.timetable.close();
		// The instance that times the lease allows for clocks that differ by a hundredth
		this.time.advance(rest.plus(fixed.dividedBy(100)));
		assertThat(this.client.acquire(KEY, OwnerToken.random(), LEASE, false)).isInstanceOf(LockAttempt.Grant.class);
	}

	@Test
	void asksForALongFixedLeaseAsOftenAsOthersAreRenewed() {
		OwnerToken owner = OwnerToken.random();
		LockAttempt.Grant grant = (LockAttempt.Grant) this.client.acquire(KEY, owner, LEASE.multipliedBy(20), false);
		begin(KEY, owner, grant, LEASE.multipliedBy(20));
		this.time.advance(LEASE.multipliedBy(10));
		assertThat(this.store.renew.calls()).isBetween(30, 34);
	}

	@Test
	void losesAFixedLeaseAsSoonAsTheStoreNoLongerKnowsTheOwner() {
		Tenure tenure = begin(KEY, false);
		this.client.release(KEY, tenure.owner(), null);
		this.time.advance(LEASE.dividedBy(3));
		assertThat(tenure.isLost()).isTrue();
		assertThat(tenure.lossReason()).contains("no longer knew its owner");
	}

	@Test
	void aFixedLeaseIsHeldUntilItsEndThoughTheStoreDoesNotAnswer() {
		Tenure tenure = begin(KEY, false);
		this.store.renew.loseRequests(() -> true);
		this.time.advance(LEASE.minusMillis(400));
		assertThat(tenure.isHeld()).isTrue();
		assertThat(this.events).singleElement().isInstanceOf(LockEvent.Suspect.class);
		this.time.advance(Duration.ofMillis(400));
		assertThat(tenure.isLost()).isTrue();
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
		Tenure tenure = begin(KEY, true);
		int[] failures = { 1 };
		this.store.renew.loseRequests(() -> failures[0]-- > 0);
		this.time.advance(Duration.ofMinutes(5));
		assertThat(tenure.isHeld()).isTrue();
		assertThat(this.events).hasSize(2);
		assertThat(this.events.get(0)).isInstanceOf(LockEvent.Suspect.class);
		assertThat(this.events.get(1)).isInstanceOf(LockEvent.Recovered.class);
	}

	@Test
	void triesAgainEveryTwentiethOfTheLeaseUntilTheDeadlineAndNotLonger() {
		Tenure tenure = begin(KEY, true);
		this.store.renew.loseRequests(() -> true);
		long deadline = tenure.deadline();
		this.time.advance(Duration.ofNanos(deadline - this.time.now()).minusMillis(5));
		assertThat(tenure.isLost()).isFalse();
		assertThat(this.store.renew.calls()).isBetween(12, 16);
		this.time.advance(Duration.ofMillis(5));
		assertThat(tenure.isLost()).isTrue();
		assertThat(this.events).hasSize(2);
		assertThat(this.events.get(1)).isInstanceOf(LockEvent.Lost.class);
	}

	@Test
	void aLostAnswerToARenewalIsNoLoss() {
		Tenure tenure = begin(KEY, true);
		int[] losses = { 3 };
		this.store.renew.loseAnswers(() -> losses[0]-- > 0);
		this.time.advance(Duration.ofMinutes(2));
		assertThat(tenure.isHeld()).isTrue();
	}

	@Test
	void losesTheLockAsSoonAsTheStoreNoLongerKnowsTheOwner() {
		Tenure tenure = begin(KEY, true);
		this.client.release(KEY, tenure.owner(), null);
		this.time.advance(LEASE.dividedBy(3));
		assertThat(tenure.isLost()).isTrue();
		assertThat(tenure.lossReason()).contains("no longer knew its owner");
	}

	@Test
	void aStoreThatNeverAnswersDelaysNeitherTheDeadlineNorTheLossOfOthers() {
		Tenure first = begin(KEY, true);
		this.storeThreadsStuck = true;
		this.time.advance(LEASE);
		assertThat(first.isLost()).isTrue();
		Tenure second = begin(LockKey.of("other"), true);
		this.time.advance(LEASE);
		assertThat(second.isLost()).isTrue();
	}

	@Test
	void aRenewalAnsweredAfterTheLossDoesNotReviveTheLeaseAndIsReleased() {
		Tenure tenure = begin(KEY, true);
		this.storeThreadsStuck = true;
		this.time.advance(LEASE.minusMillis(302));
		assertThat(tenure.isLost()).isTrue();
		this.storeThreadsStuck = false;
		while (!this.held.isEmpty()) {
			this.held.poll().run();
		}
		this.time.advance(Duration.ofMillis(1));
		assertThat(tenure.isLost()).isTrue();
		assertThat(this.client.acquire(KEY, OwnerToken.random(), LEASE, false)).isInstanceOf(LockAttempt.Grant.class);
	}

	@Test
	void nothingIsLeftOnceTheLeaseIsForgotten() {
		Tenure tenure = begin(KEY, true);
		this.time.advance(Duration.ofMinutes(1));
		tenure.release();
		this.watchdog.forget(tenure);
		assertThat(this.timetable.size()).isZero();
		int renewals = this.store.renew.calls();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.store.renew.calls()).isEqualTo(renewals);
	}

	@Test
	void aReleaseWhileARenewalIsUnderWayLeavesNothing() {
		Tenure tenure = begin(KEY, true);
		this.storeThreadsStuck = true;
		this.time.advance(LEASE.dividedBy(3));
		assertThat(this.held).hasSize(1);
		tenure.release();
		this.watchdog.forget(tenure);
		this.held.poll().run();
		assertThat(this.timetable.size()).isZero();
		assertThat(tenure.isLost()).isFalse();
	}

	/** In a store of several servers, a late renewal may have taken the lock again. */
	@Test
	void aLockThatWasReleasedWhileItsRenewalWasSentIsReleasedAgain() {
		Tenure tenure = begin(KEY, true);
		tenure.release();
		tenure.answered();
		send(tenure);
		assertThat(this.client.acquire(KEY, OwnerToken.random(), LEASE, false)).isInstanceOf(LockAttempt.Grant.class);
	}

	/** Otherwise the release would seem to come after a loss. */
	@Test
	void aLockWhoseReleaseIsUnderWayIsReleasedAgainOnlyAfterIt() {
		Tenure tenure = begin(KEY, true);
		Hold hold = this.holds.get(0);
		this.store.release.loseRequests(() -> {
			if (this.store.release.calls() == 1) {
				send(tenure);
				assertThat(this.store.release.calls()).as("releases at the same time").isOne();
			}
			return false;
		});
		new Releases(this.store,
				new LocalLocks(new Terms(EngineSettings.DEFAULTS, this.time), new ModelDesk(Duration.ZERO)),
				this.watchdog, this.orphans, this.notice, new UnderWay(this.time))
			.release(tenure, hold, null);
		assertThat(hold.isLost()).isFalse();
		assertThat(this.events).isEmpty();
		assertThat(this.store.release.calls()).isEqualTo(2);
	}

	@Test
	void aLockThatIsKeptIsNotReleasedByItsLastRenewal() {
		Tenure tenure = begin(KEY, true);
		tenure.keep();
		send(tenure);
		assertThat(this.store.release.calls()).isZero();
	}

	private void send(Tenure tenure) {
		LeaseWatchdog.Renewal renewal = this.watchdog.begin(tenure);
		this.store.renew(List.of(renewal.request()));
		this.watchdog.sent(renewal);
	}

	@Test
	void afterStopItOnlyWatchesDeadlines() {
		Tenure tenure = begin(KEY, true);
		this.watchdog.setRenewing(false);
		this.time.advance(LEASE);
		assertThat(this.store.renew.calls()).isZero();
		assertThat(tenure.isLost()).isTrue();
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
		Tenure tenure = granted(KEY, true);
		watchdog.watch(tenure);
		for (int i = 1; i <= 3; i++) {
			watchdog.hasten(tenure);
			assertThat(this.store.renew.calls()).isEqualTo(i);
			assertThat(prompt.size()).as("the next renewal is due").isOne();
		}
	}

	private Tenure begin(LockKey key, boolean renewable) {
		Tenure tenure = granted(key, renewable);
		this.watchdog.watch(tenure);
		return tenure;
	}

	private Tenure granted(LockKey key, boolean renewable) {
		OwnerToken owner = OwnerToken.random();
		LockAttempt.Grant grant = (LockAttempt.Grant) this.client.acquire(key, owner, LEASE, false);
		Waiter waiter = new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, renewable ? null : LEASE, null, Thread.currentThread());
		Tenure tenure = new Tenure(key, owner, grant, LEASE, this.store.longestLease(), this.time.now(), 0,
				this.timetable);
		this.holds.add(tenure.beginHold(waiter, LEASE, this.time.now()));
		return tenure;
	}

	private LeaseWatchdog watchdog(int renewalsPerLease) {
		return watchdog(this.timetable, renewalsPerLease);
	}

	private LeaseWatchdog watchdog(Timetable timetable, int renewalsPerLease) {
		return new LeaseWatchdog(this.store, timetable, this::onStoreThread, this.orphans, this.notice, this::lost,
				LEASE, renewalsPerLease);
	}

	private void begin(LockKey key, OwnerToken owner, LockAttempt.Grant grant, Duration fixed) {
		Tenure tenure = new Tenure(key, owner, grant, fixed, this.store.longestLease(), this.time.now(), 0,
				this.timetable);
		tenure.beginHold(new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
				LockMode.EXCLUSIVE, fixed, null, Thread.currentThread()), fixed, this.time.now());
		this.watchdog.watch(tenure);
	}

	private void lost(Tenure tenure) {
		this.holds.stream()
			.filter((hold) -> hold.tenure() == tenure && hold.lose(tenure.lossReason()))
			.forEach(this.notice::lost);
	}

	private void onStoreThread(Runnable task) {
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
