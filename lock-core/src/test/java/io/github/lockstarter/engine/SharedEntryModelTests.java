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
 * Checks the state machine of a lock inside of a JVM in many interleavings of a reader
 * that leaves, one that comes, a writer that gives up, and something that comes between.
 */
class SharedEntryModelTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(30);

	private static final int INTERLEAVINGS = Integer.getInteger("model.interleavings", 40);

	@ParameterizedTest
	@EnumSource
	@EnabledForJreRange(max = JRE.JAVA_21, disabledReason = "Lincheck 3.7 sees hangs on JDK 25 where there are none")
	void nobodyIsStrandedAndNoWriterHoldsBesideAnother(Disturbance disturbance) {
		Interleavings.check(INTERLEAVINGS, () -> new Game(disturbance).play());
	}

	/**
	 * What comes between those who come and go.
	 */
	private enum Disturbance {

		NONE, WRITER_GONE, TENURE_LOST, LEASE_TIME_OVER, READERS_ADMITTED, QUESTION

	}

	/**
	 * One lock that a reader holds and a writer waits for, while the first leaves, the
	 * second gives up, another reader comes and a disturbance too, each on a thread of
	 * its own.
	 */
	private static final class Game {

		private final Timetable timetable = new Timetable(() -> 0);

		private final LocalEntries entries = new LocalEntries(LEASE_TIME);

		private final LocalEntry entry = this.entries.getOrCreate(LockKey.of("stock"));

		private final List<Hold> holds = new CopyOnWriteArrayList<>();

		private final Disturbance disturbance;

		private volatile Arrival queued;

		private volatile long lastBase;

		Game(Disturbance disturbance) {
			this.disturbance = disturbance;
		}

		void play() {
			Caller reader = caller(LockMode.READ);
			this.entry.arrive(reader);
			Hold first = begin(reader);
			Thread waiting = new Thread(() -> this.queued = this.entry.arrive(caller(LockMode.WRITE)));
			waiting.start();
			join(waiting);
			LocalWaiter writer = ((Arrival.Queued) this.queued).waiter();
			if (this.disturbance == Disturbance.WRITER_GONE) {
				this.entry.leave(writer);
			}
			List<Thread> threads = List.of(new Thread(() -> giveUp(writer)), new Thread(this::readAndGiveUp),
					new Thread(() -> disturb(first)));
			threads.forEach(Thread::start);
			leave(first);
			threads.forEach(Game::join);
			check(this.entries.size() == 0, "the entry is left behind");
			check(this.holds.stream().noneMatch(Hold::isHeld), "a hold is left behind");
		}

		private void giveUp(LocalWaiter writer) {
			if (this.disturbance != Disturbance.WRITER_GONE) {
				take(this.entry.leave(writer), writer.caller());
			}
		}

		private void readAndGiveUp() {
			Caller reader = caller(LockMode.READ);
			Arrival arrival = this.entry.arrive(reader);
			if (arrival instanceof Arrival.Asking) {
				arrival = this.entry.arrive(reader, true);
			}
			if (arrival instanceof Arrival.Taken) {
				leave(begin(reader));
			}
			else if (arrival instanceof Arrival.Joined joined) {
				received(joined.hold());
				leave(joined.hold());
			}
			else if (arrival instanceof Arrival.Queued queued) {
				take(this.entry.leave(queued.waiter()), reader);
			}
		}

		private void take(@Nullable Turn turn, Caller caller) {
			if (turn instanceof Hold hold) {
				received(hold);
				leave(hold);
			}
			else if (turn == StoreTurn.ASK) {
				leave(begin(caller));
			}
		}

		private void disturb(Hold first) {
			switch (this.disturbance) {
				case TENURE_LOST -> {
					if (first.tenure().lose("it is a test")) {
						this.entry.lose(first.tenure());
					}
				}
				case LEASE_TIME_OVER -> {
					if (this.entry.expire(first) == Departure.GIVE_BACK) {
						giveBack(first);
					}
				}
				case READERS_ADMITTED -> {
					if (this.entry.beginAdmission() && this.entry.tenureThatReadersWaitFor() != null) {
						this.entry.admit();
					}
				}
				case NONE, WRITER_GONE, QUESTION -> {
				}
			}
		}

		/** As a visit to the store that is granted the lock. */
		private Hold begin(Caller caller) {
			LockGrant grant = new LockGrant(++this.lastBase, false);
			Tenure tenure = new Tenure(this.entry, OwnerToken.random(caller.mode()), grant, LEASE_TIME, 0,
					(this.disturbance == Disturbance.QUESTION) ? 0 : Long.MAX_VALUE / 4, this.timetable);
			Hold hold = this.entry.begin(tenure, caller);
			received(hold);
			return hold;
		}

		private void received(Hold hold) {
			for (Hold other : this.holds) {
				boolean together = hold.tenure() == other.tenure() && hold.tenure().isShared();
				check(together || !hold.isHeld() || !other.isHeld(), "two hold the lock of which one wants it alone");
				check(other.fencingToken() != hold.fencingToken(), "two have the same fencing token");
			}
			this.holds.add(hold);
		}

		private void leave(Hold hold) {
			check(hold.isHeld() || hold.isLost() || hold.tenure().isLost(), "the lock was given back under a hold");
			if (this.entry.exit(hold) == Departure.GIVE_BACK) {
				giveBack(hold);
			}
		}

		/** As a release that the store has answered. */
		private void giveBack(Hold hold) {
			hold.tenure().release();
			this.entry.passOnOrEnd(StoreTurn.ASK);
		}

		private static Caller caller(LockMode mode) {
			return Caller.interruptible(Duration.ofSeconds(10), mode, null);
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
