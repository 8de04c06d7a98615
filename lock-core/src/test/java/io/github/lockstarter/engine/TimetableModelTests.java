// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * Checks that the thread of a timetable is awake in time, in many interleavings of its
 * falling asleep and another thread that cancels an action and enters a later one.
 */
@FullProfileOnly
class TimetableModelTests {

	@Test
	@EnabledForJreRange(max = JRE.JAVA_21, disabledReason = "Lincheck 3.7 sees hangs on JDK 25 where there are none")
	void theThreadDoesNotSleepPastAnAction() {
		Interleavings.check(() -> new Game().play());
	}

	/** A lock that is released at once, and the next one. */
	private static final class Game {

		private final SleepingTime time = new SleepingTime();

		private final Timetable timetable = new Timetable(this.time);

		private volatile long asleepUntil;

		void play() {
			Timetable.Entry first = enter(1);
			this.timetable.start();
			// A later action than the first one wakes nobody
			this.timetable.nextDue();
			ModelDesk.run(() -> this.asleepUntil = this.timetable.nextDue(), () -> {
				this.timetable.cancel(first);
				enter(2);
			});
			ModelDesk.check(this.asleepUntil <= 2 || this.time.woken.get(), "The thread sleeps past an action");
		}

		private Timetable.Entry enter(long due) {
			return this.timetable.at(due, () -> {
			});
		}

	}

	/** A time whose thread is only told to wake up. */
	private static final class SleepingTime implements Time {

		private final AtomicBoolean woken = new AtomicBoolean();

		@Override
		public long now() {
			return 0;
		}

		@Override
		public void parkUntil(Object blocker, long deadline) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void unpark(Thread thread) {
			this.woken.set(true);
		}

		@Override
		public Thread start(Schedule schedule) {
			return Thread.currentThread();
		}

	}

}
