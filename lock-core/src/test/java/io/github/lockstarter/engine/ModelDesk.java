// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;

/**
 * One lock in a game of threads, with a store that answers at once and a clock that
 * stands still unless it is set forward.
 */
class ModelDesk implements LockActions {

	private static final LockKey KEY = LockKey.of("stock");

	private final ModelTime time = new ModelTime();

	private final Timetable timetable = new Timetable(this.time);

	private final Terms terms = new Terms(EngineSettings.DEFAULTS, this.time);

	private final LocalLocks locks = new LocalLocks(this.terms, new Warnings(EngineSettings.DEFAULTS, this.time), this);

	private final List<Hold> holds = new CopyOnWriteArrayList<>();

	/** Who stands in the line of the store. */
	private final List<OwnerToken> line = new CopyOnWriteArrayList<>();

	private final AtomicLong lastBase = new AtomicLong();

	private final AtomicBoolean refusing = new AtomicBoolean();

	private final AtomicBoolean failing = new AtomicBoolean();

	private final AtomicBoolean silent = new AtomicBoolean();

	private final AtomicReference<@Nullable Attempt> silenced = new AtomicReference<>();

	private final long slice;

	/**
	 * Create a desk.
	 * @param slice for how long an ownership may be handed on
	 */
	ModelDesk(Duration slice) {
		this.slice = slice.toNanos();
	}

	/**
	 * Set the clock forward.
	 */
	void pass(Duration time) {
		this.time.advance(time);
	}

	long now() {
		return this.time.now();
	}

	/**
	 * Let the store refuse the next request, and send a message about a release at once.
	 */
	void refuseNext() {
		this.refusing.set(true);
	}

	/**
	 * Let the store give no answer to the next request.
	 */
	void failNext() {
		this.failing.set(true);
	}

	/**
	 * Let the store keep silent about the next request until {@link #giveUp()}.
	 */
	void silenceNext() {
		this.silent.set(true);
	}

	/**
	 * Let the answer to that request be overdue, given up, and come as a late grant.
	 */
	void giveUp() {
		Attempt attempt = this.silenced.getAndSet(null);
		if (attempt != null) {
			change((lock) -> lock.overdue(attempt));
			change((lock) -> lock.failed(attempt, new IllegalStateException("it is a test"), null));
			change((lock) -> lock.grantedLate(attempt));
		}
	}

	/**
	 * Let the answer to that request be overdue.
	 */
	void overdue() {
		Attempt attempt = this.silenced.get();
		if (attempt != null) {
			change((lock) -> lock.overdue(attempt));
		}
	}

	/**
	 * Let a waiter arrive at the lock.
	 */
	ModelWaiter come(LockMode mode) {
		return come(waiter(mode, Duration.ofHours(1), null));
	}

	/**
	 * Let a waiter of an owner arrive at the lock.
	 */
	ModelWaiter come(LockMode mode, Object owner) {
		return come(new ModelWaiter(this.terms, mode, Duration.ofHours(1), null, owner));
	}

	ModelWaiter waiter(LockMode mode, Duration waitTime, @Nullable Duration fixedLeaseTime) {
		return new ModelWaiter(this.terms, mode, waitTime, fixedLeaseTime, new Object());
	}

	ModelWaiter come(ModelWaiter waiter) {
		while (!waiter.hasArrived()) {
			this.locks.getOrCreate(KEY).arrive(waiter);
		}
		return waiter;
	}

	/**
	 * Let a waiter leave the lock, and release it at once if it was granted.
	 */
	void leave(ModelWaiter waiter) {
		change((lock) -> lock.leave(waiter, false));
		check(waiter.outcome() != null, "a waiter is stranded");
		leaveLine(waiter);
		if (waiter.outcome() instanceof Hold hold) {
			received(hold);
			leave(hold);
		}
	}

	/**
	 * Let the wait time of a waiter end.
	 */
	void timeOut(ModelWaiter waiter) {
		waiter.timedOut = true;
		change((lock) -> lock.leave(waiter, true));
	}

	private void leaveLine(ModelWaiter waiter) {
		boolean granted = waiter.outcome() instanceof Hold && !waiter.hasReentered();
		if (waiter.isFair() && waiter.place().leave(granted)) {
			this.line.remove(waiter.token());
		}
	}

	/**
	 * Return the hold of a waiter, which must have one.
	 */
	Hold hold(ModelWaiter waiter) {
		if (!(waiter.outcome() instanceof Hold hold)) {
			throw new IllegalStateException("A free lock was not granted");
		}
		received(hold);
		return hold;
	}

	/**
	 * Let an owner release the lock.
	 */
	void leave(Hold hold) {
		check(hold.isHeld() || hold.isLost() || hold.ownership().isLost(), "the lock was released under a hold");
		change((lock) -> lock.exit(hold));
	}

	/**
	 * Let an ownership be lost.
	 */
	void lose(Ownership ownership) {
		if (ownership.lose("it is a test")) {
			change((lock) -> lock.lose(ownership));
		}
	}

	/**
	 * Let the fixed lease time of a hold end.
	 */
	void timeOver(Hold hold) {
		change((lock) -> lock.expire(hold));
	}

	/**
	 * Shut the registry down.
	 */
	void shutDown() {
		this.terms.setRefusing(true);
		change(LocalLock::refuse);
	}

	/**
	 * Check that no state is left behind.
	 */
	void checkEnd() {
		check(this.locks.size() == 0, "the lock is left behind");
		check(this.holds.stream().noneMatch(Hold::isHeld), "a hold is left behind");
		check(this.line.isEmpty(), "a place in the line is left behind");
	}

	/** A hold can be lost on the way, but a lost one is never held again. */
	private void received(Hold hold) {
		for (Hold other : this.holds) {
			if (other == hold) {
				continue;
			}
			boolean otherHeld = other.isHeld();
			boolean together = other.ownership().isShared() && hold.ownership().isShared();
			check(together || !hold.isHeld() || !otherHeld, "two hold a lock that they do not share");
			check(other.fencingToken() != hold.fencingToken(), "two have the same fencing token");
			check(together || !hold.isHeld() || other.fencingToken() < hold.fencingToken(), "a later token is smaller");
		}
		this.holds.add(hold);
	}

	/**
	 * Let the lock receive a message.
	 */
	void notifyLock() {
		change(LocalLock::askAgain);
	}

	final void change(Consumer<LocalLock> transition) {
		this.locks.change(KEY, transition);
	}

	@Override
	public void ask(LockKey key, Attempt attempt, Waiter head) {
		attempt.send(this.time.now(), true, false);
		boolean fair = head.isFair();
		if (fair) {
			head.place().ask(true);
		}
		if (this.silent.getAndSet(false)) {
			attempt.ask(this.time.now(), Duration.ZERO);
			this.silenced.set(attempt);
		}
		else if (this.refusing.getAndSet(false)) {
			change((lock) -> lock.refused(attempt, AcquireFailure.NOTHING_KNOWN));
		}
		else if (this.failing.getAndSet(false)) {
			change((lock) -> lock.failed(attempt, new IllegalStateException("it is a test"), null));
		}
		else {
			if (fair) {
				this.line.remove(attempt.token());
			}
			AcquireResult.Grant grant = new AcquireResult.Grant(this.lastBase.incrementAndGet());
			Ownership ownership = new Ownership(key, attempt.token(), grant, attempt.leaseTime(), attempt.leaseTime(),
					this.time.now(), this.slice, this.timetable);
			change((lock) -> lock.granted(attempt, ownership));
		}
	}

	/** Deliver the message at once. */
	@Override
	public void setAlarm(Timetable.Entry alarm) {
		notifyLock();
	}

	@Override
	public void release(Ownership ownership, @Nullable Hold hold) {
		ownership.release();
		change(LocalLock::returned);
	}

	@Override
	public void keep(Hold hold) {
		throw new IllegalStateException("Nobody wants to keep the lock");
	}

	@Override
	public void cancelAlarm(Timetable.Entry alarm) {
	}

	@Override
	public void orphan(LockKey key, Attempt attempt) {
		LocalLock lock = this.locks.get(key);
		check(lock == null
				|| lock.ownerships().stream().noneMatch((ownership) -> ownership.owner().equals(attempt.token())),
				"a lock is given back under its owner");
	}

	@Override
	public void withdraw(LockKey key, @Nullable OwnerToken owner) {
	}

	@Override
	public void enterLine(LockKey key, Waiter waiter) {
		LinePlace place = waiter.place();
		OwnerToken token = waiter.token();
		if (place.beginEntering()) {
			this.line.add(token);
			if (place.endEntering()) {
				this.line.remove(token);
			}
		}
	}

	@Override
	public void watch(Ownership ownership) {
	}

	@Override
	public void hasten(Ownership ownership) {
	}

	@Override
	public void warn(Runnable warning) {
	}

	@Override
	public void ended(Hold hold) {
	}

	@Override
	public void expire(Hold hold) {
		throw new IllegalStateException("The time stands still");
	}

	static void check(boolean condition, String otherwise) {
		if (!condition) {
			throw new IllegalStateException(otherwise);
		}
	}

	/**
	 * Run threads until all have ended.
	 */
	static void run(Runnable here, Runnable... threads) {
		List<Thread> started = new ArrayList<>();
		for (Runnable thread : threads) {
			started.add(new Thread(thread));
		}
		started.forEach(Thread::start);
		here.run();
		for (Thread thread : started) {
			try {
				thread.join();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}
	}

	/**
	 * A time with as few steps as possible, because a model tries their interleavings.
	 */
	static final class ModelTime implements Time {

		private final AtomicLong nanos = new AtomicLong();

		void advance(Duration duration) {
			this.nanos.addAndGet(duration.toNanos());
		}

		@Override
		public long now() {
			return this.nanos.get();
		}

		@Override
		public void parkUntil(Object blocker, long deadline) {
			throw new IllegalStateException("Nobody waits");
		}

		@Override
		public void unpark(Thread thread) {
		}

		@Override
		public @Nullable Thread start(Schedule schedule) {
			return null;
		}

	}

	/**
	 * A waiter that looks at its outcome when it leaves.
	 */
	static final class ModelWaiter extends Waiter {

		private volatile boolean timedOut;

		private ModelWaiter(Terms terms, LockMode mode, Duration waitTime, @Nullable Duration fixedLeaseTime,
				Object owner) {
			super(terms, waitTime, mode, fixedLeaseTime, null, owner);
		}

		@Override
		boolean isOutOfTime() {
			return this.timedOut || super.isOutOfTime();
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
