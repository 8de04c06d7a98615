// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.OwnerToken;

/**
 * Checks the state machine of a lock inside of a JVM in many interleavings of an unlock,
 * callers that give up in the same instant because of a time-out or an interrupt, and
 * something that comes between.
 */
class LocalEntryModelTests {

	private static final OwnerToken OWNER = OwnerToken.random();

	private static final int INTERLEAVINGS = Integer.getInteger("model.interleavings", 150);

	@ParameterizedTest
	@EnumSource
	@EnabledForJreRange(max = JRE.JAVA_21, disabledReason = "Lincheck 3.7 sees hangs on JDK 25 where there are none")
	void nobodyIsStrandedAndNoTwoHold(Disturbance disturbance) {
		Interleavings.check(INTERLEAVINGS, () -> new Game(disturbance).play());
	}

	/**
	 * What comes between an unlock and the waiters.
	 */
	private enum Disturbance {

		NONE, TENURE_LOST, LEASE_TIME_OVER, SHUTDOWN, QUESTION, QUESTION_AND_TENURE_LOST, QUESTION_AND_SHUTDOWN

	}

	/**
	 * One lock with a holder that leaves, a waiter that gives up, another caller and a
	 * disturbance, each on a thread of its own.
	 */
	private static final class Game {

		private final Timetable timetable = new Timetable(() -> 0);

		private final LocalEntries entries = new LocalEntries(Duration.ofSeconds(30));

		private final LocalEntry entry = this.entries.getOrCreate(LockKey.of("stock"));

		private final List<Hold> holds = new CopyOnWriteArrayList<>();

		private final Disturbance disturbance;

		private volatile Arrival queued;

		private volatile long lastBase;

		Game(Disturbance disturbance) {
			this.disturbance = disturbance;
		}

		void play() {
			this.entry.arrive(caller());
			Hold first = begin();
			Thread waiting = new Thread(() -> this.queued = this.entry.arrive(caller()));
			waiting.start();
			join(waiting);
			LocalWaiter waiter = ((Arrival.Queued) this.queued).waiter();
			List<Thread> threads = List.of(new Thread(() -> take(this.entry.leave(waiter))),
					new Thread(this::callAndGiveUp), new Thread(() -> disturb(first)));
			threads.forEach(Thread::start);
			leave(first);
			threads.forEach(Game::join);
			check(this.entries.size() == 0, "the entry is left behind");
			check(this.holds.stream().noneMatch(Hold::isHeld), "a hold is left behind");
		}

		private void callAndGiveUp() {
			Arrival arrival = this.entry.arrive(caller());
			if (arrival instanceof Arrival.Taken) {
				leave(begin());
			}
			else if (arrival instanceof Arrival.Queued queued) {
				take(this.entry.leave(queued.waiter()));
			}
		}

		private void take(@Nullable Turn turn) {
			if (turn instanceof Hold hold) {
				received(hold);
				leave(hold);
			}
			else if (turn == StoreTurn.ASK) {
				leave(begin());
			}
		}

		private void disturb(Hold first) {
			switch (this.disturbance) {
				case TENURE_LOST, QUESTION_AND_TENURE_LOST -> {
					if (first.tenure().lose("it is a test")) {
						this.entry.lose(first.tenure());
					}
				}
				case LEASE_TIME_OVER -> goOn(first, this.entry.expire(first));
				case SHUTDOWN, QUESTION_AND_SHUTDOWN -> this.entry.refuseWaiters();
				case NONE, QUESTION -> {
				}
			}
		}

		/** As a visit to the store that is granted the lock. */
		private Hold begin() {
			LockGrant grant = new LockGrant(++this.lastBase, false);
			Tenure tenure = new Tenure(this.entry, OWNER, grant, Duration.ofSeconds(30), 0,
					isAsking() ? 0 : Long.MAX_VALUE / 4, this.timetable);
			Hold hold = this.entry.begin(tenure, caller());
			received(hold);
			return hold;
		}

		/** A hold can be lost on the way, but none comes back to life. */
		private void received(Hold hold) {
			for (Hold other : this.holds) {
				boolean otherHeld = other.isHeld();
				boolean older = other.fencingToken() < hold.fencingToken();
				check(!hold.isHeld() || (older && !otherHeld), "another hold is still held, or newer");
			}
			this.holds.add(hold);
		}

		private void leave(Hold hold) {
			goOn(hold, this.entry.exit(hold));
		}

		/** Whether another JVM waits is asked before each hand-over, or never. */
		private boolean isAsking() {
			return this.disturbance.ordinal() >= Disturbance.QUESTION.ordinal();
		}

		private void goOn(Hold hold, Departure departure) {
			Departure last = (departure == Departure.ASK_FIRST) ? this.entry.goOn(hold.tenure()) : departure;
			if (last == Departure.GIVE_BACK) {
				giveBack(hold);
			}
		}

		/** As a release that the store has answered. */
		private void giveBack(Hold hold) {
			hold.tenure().release();
			this.entry.passOnOrEnd(StoreTurn.ASK);
		}

		private static Caller caller() {
			return Caller.interruptible(Duration.ofSeconds(10), LockMode.EXCLUSIVE, null);
		}

		private static void check(boolean condition, String otherwise) {
			if (!condition) {
				throw new IllegalStateException(otherwise);
			}
		}

		private static void join(Thread thread) {
			try {
				thread.join();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
