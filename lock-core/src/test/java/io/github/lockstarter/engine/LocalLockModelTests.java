// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockRefusal;

/**
 * Checks the state machine of a lock inside a JVM in many interleavings of an unlock,
 * waiters that leave in the same instant, and something that comes between.
 */
class LocalLockModelTests {

	private static final int INTERLEAVINGS = Integer.getInteger("model.interleavings", 60);

	private static final EngineSettings SETTINGS = EngineSettings.DEFAULTS;

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

		NONE, TENURE_LOST, LEASE_TIME_OVER, SHUTDOWN, STORE_REFUSES, STORE_FAILS, QUESTION, QUESTION_AND_TENURE_LOST,
		QUESTION_AND_SHUTDOWN

	}

	/**
	 * One lock with a holder that leaves, a waiter that gives up, another waiter and a
	 * disturbance, each on a thread of its own.
	 */
	private static final class Game implements Desk {

		private final Timetable timetable = new Timetable(() -> 0);

		private final LocalLocks locks = new LocalLocks(SETTINGS, () -> 0);

		private final LocalLock lock = this.locks.getOrCreate(LockKey.of("stock"));

		private final List<Hold> holds = new CopyOnWriteArrayList<>();

		private final AtomicLong lastBase = new AtomicLong();

		private final AtomicBoolean disturbed = new AtomicBoolean();

		private final Disturbance disturbance;

		Game(Disturbance disturbance) {
			this.disturbance = disturbance;
		}

		void play() {
			Hold first = hold(come());
			ModelWaiter waiting = come();
			List<Thread> threads = List.of(new Thread(() -> leave(waiting)), new Thread(() -> leave(come())),
					new Thread(() -> disturb(first)));
			this.disturbed.set(true);
			threads.forEach(Thread::start);
			leave(first);
			threads.forEach(Game::join);
			check(this.locks.size() == 0, "the lock is left behind");
			check(this.holds.stream().noneMatch(Hold::isHeld), "a hold is left behind");
		}

		private ModelWaiter come() {
			ModelWaiter waiter = new ModelWaiter();
			while (waiter.lock() == null) {
				carryOut(this.locks.getOrCreate(LockKey.of("stock")).arrive(waiter));
			}
			return waiter;
		}

		private Hold hold(Waiter waiter) {
			check(waiter.outcome() instanceof Hold, "a free lock is not granted");
			return (Hold) waiter.outcome();
		}

		private void leave(Waiter waiter) {
			LocalLock lock = waiter.lock();
			check(lock != null, "it has not arrived");
			if (lock != null) {
				carryOut(lock.leave(waiter, false));
			}
			check(waiter.outcome() != null, "a waiter is stranded");
			if (waiter.outcome() instanceof Hold hold) {
				received(hold);
				leave(hold);
			}
		}

		private void leave(Hold hold) {
			carryOut(hold.lock().exit(hold));
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

		private void disturb(Hold first) {
			switch (this.disturbance) {
				case TENURE_LOST, QUESTION_AND_TENURE_LOST -> {
					if (first.tenure().lose("it is a test")) {
						carryOut(first.lock().lose(first.tenure()));
					}
				}
				case LEASE_TIME_OVER -> carryOut(first.lock().expire(first));
				case SHUTDOWN, QUESTION_AND_SHUTDOWN -> {
					this.locks.setRefusing(true);
					this.locks.all().forEach((lock) -> carryOut(lock.refuse()));
				}
				case NONE, QUESTION, STORE_REFUSES, STORE_FAILS -> {
				}
			}
		}

		private void carryOut(@Nullable Effect effect) {
			if (effect != null) {
				effect.carryOut(this);
			}
		}

		@Override
		public void ask(LocalLock lock, Attempt attempt, Waiter head) {
			attempt.send(0, true);
			if (this.disturbance == Disturbance.STORE_REFUSES && this.disturbed.getAndSet(false)) {
				carryOut(lock.refused(attempt, new LockRefusal(null)));
			}
			else if (this.disturbance == Disturbance.STORE_FAILS && this.disturbed.getAndSet(false)) {
				carryOut(lock.failed(attempt, new IllegalStateException("it is a test"), false));
			}
			else {
				LockGrant grant = new LockGrant(this.lastBase.incrementAndGet(), false);
				boolean asking = this.disturbance.ordinal() >= Disturbance.QUESTION.ordinal();
				carryOut(lock.granted(attempt, grant, new Tenure(lock, attempt.token(), grant, attempt.leaseTime(), 0,
						asking ? 0 : Long.MAX_VALUE / 4, this.timetable)));
			}
		}

		/** The message comes at once. */
		@Override
		public void listen(LocalLock lock, long number, long nanos) {
			carryOut(lock.rung());
		}

		@Override
		public void giveBack(LocalLock lock, Tenure tenure, @Nullable Hold hold, @Nullable LockMode next) {
			tenure.release();
			carryOut(lock.returned(false));
		}

		@Override
		public void keep(LocalLock lock, Hold hold) {
			throw new IllegalStateException("Nobody wants to keep the lock");
		}

		@Override
		public void probe(LocalLock lock, Tenure tenure) {
			tenure.slice().answer(0, false);
			carryOut(lock.probed(tenure));
		}

		@Override
		public void cancelAlarm(LocalLock lock) {
		}

		@Override
		public void orphan(LockKey key, Attempt attempt) {
		}

		@Override
		public void withdraw(LockKey key) {
		}

		@Override
		public void enterLine(LockKey key, Waiter waiter) {
		}

		@Override
		public void watch(Tenure tenure) {
		}

		@Override
		public void admitLater(LocalLock lock) {
		}

		@Override
		public void ended(Hold hold) {
		}

		@Override
		public void expire(Hold hold) {
			throw new IllegalStateException("The time stands still");
		}

		@Override
		public long pause(@Nullable Duration remaining, boolean inLine) {
			return 0;
		}

		@Override
		public long retryPause(Attempt attempt) {
			return 0;
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

	/**
	 * A waiter that looks at its outcome when it leaves.
	 */
	private static final class ModelWaiter extends Waiter {

		ModelWaiter() {
			super(Duration.ofHours(1), LockMode.EXCLUSIVE, null, new Object());
		}

		@Override
		boolean execute(Runnable step, boolean blocking) {
			step.run();
			return true;
		}

		@Override
		void wake() {
		}

	}

}
