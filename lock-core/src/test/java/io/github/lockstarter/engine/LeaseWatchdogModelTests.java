// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.memory.MemoryLockStore;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * Checks that a lease is renewed again, in many interleavings of the answer to a renewal
 * and another thread that sets an alarm.
 */
@FullProfileOnly
class LeaseWatchdogModelTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	@ParameterizedTest
	@EnumSource
	@EnabledForJreRange(max = JRE.JAVA_21, disabledReason = "Lincheck 3.7 sees hangs on JDK 25 where there are none")
	void anAnswerLeavesAnAlarmForTheNextRenewal(Rival rival) {
		Interleavings.check(() -> new Game(rival).play());
	}

	private enum Rival {

		/** An alarm of a thread that has not seen the renewal begin. */
		ALARM,

		/** A reader whose lease is renewed, beside one whose lease is not. */
		LONGER_HOLD

	}

	/** One lease, and the answer to its renewal on a thread of its own. */
	private static final class Game {

		private final Rival rival;

		private final ModelDesk.ModelTime time = new ModelDesk.ModelTime();

		private final Timetable timetable = new Timetable(this.time);

		private final Ownership ownership;

		private final LeaseWatchdog watchdog;

		Game(Rival rival) {
			this.rival = rival;
			MemoryLockStore store = new MemoryLockStore();
			Executor threads = (task) -> {
			};
			this.watchdog = new LeaseWatchdog(store, this.timetable, threads,
					new Orphans(store, this.timetable, threads, () -> {
					}), new LeaseEvents("memory", (event) -> {
					}, Runnable::run, Runnable::run, EngineProbe.outages(this.timetable)), (lost) -> {
						throw new AssertionError("A healthy lease is lost");
					}, LEASE, 3);
			this.ownership = new Ownership(LockKey.of("prices"), OwnerToken.random(LockMode.READ),
					new AcquireResult.Grant(1), LEASE, LEASE, this.time.now(), 0, this.timetable);
		}

		void play() {
			beginHold((this.rival == Rival.LONGER_HOLD) ? LEASE : null);
			this.time.advance(LEASE.dividedBy(2));
			this.watchdog.hasten(this.ownership);
			this.ownership.setRenewing(true);
			LeaseWatchdog.Renewal renewal = this.watchdog.begin(this.ownership);
			Runnable answer = () -> this.watchdog.answered(renewal, true, null);
			Runnable rivalry = this::compete;
			// The thread that must be interrupted in its work comes first
			if (this.rival == Rival.LONGER_HOLD) {
				ModelDesk.run(answer, rivalry);
			}
			else {
				ModelDesk.run(rivalry, answer);
			}
			checkAlarm();
		}

		private void compete() {
			switch (this.rival) {
				case ALARM -> this.timetable.runDue();
				case LONGER_HOLD -> beginHold(null);
			}
		}

		private void beginHold(@Nullable Duration fixedLeaseTime) {
			this.ownership.beginHold(new ThreadWaiter(new Terms(EngineSettings.DEFAULTS, this.time), Duration.ZERO,
					LockMode.READ, fixedLeaseTime, null, Thread.currentThread()), this.time.now());
			this.watchdog.watch(this.ownership);
		}

		private void checkAlarm() {
			Timetable.Entry alarm = this.ownership.alarm();
			long granted = this.ownership.grantedAt();
			long latest = Math.max(this.time.now() - granted, LEASE.dividedBy(3).toNanos());
			if (!this.ownership.isRenewing() && (alarm == null || alarm.due() - granted > latest)) {
				throw new AssertionError("The lease is not renewed in time");
			}
		}

	}

}
