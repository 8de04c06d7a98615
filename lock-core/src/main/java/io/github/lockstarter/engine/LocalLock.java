// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.UnusableStoreException;

/**
 * One lock inside this JVM, from its first waiter to its last. The lock asks the store,
 * one question at a time, and its waiters only wait for the lock, first in first out.
 *
 * <p>
 * Each transition happens under the guard, which is never held while the store or user
 * code runs, and returns what is left to be done as an {@link Effect}. A lock that is
 * idle, without a body that has yet to learn that it lost the lock, is over: it is out of
 * the map and never used again.
 *
 * <p>
 * Handing a lock that is owned by the whole group on within the group follows Dice,
 * Marathe and Shavit, <a href="https://doi.org/10.1145/2145816.2145848">Lock
 * Cohorting</a>.
 */
final class LocalLock {

	private final LockKey key;

	private final LocalLocks locks;

	private final ReentrantLock guard = new ReentrantLock();

	private final Set<Waiter> queue = new LinkedHashSet<>();

	private final Holders holders = new Holders();

	private Phase phase = Phase.IDLE;

	private boolean over;

	/** What holds the lock in the store, also between two holds. */
	private @Nullable Tenure tenure;

	/** What has ended while it is asked whether another JVM waits. */
	private @Nullable Hold lastHold;

	private @Nullable Attempt attempt;

	/** Whether this JVM may stand in the line of the store. */
	private boolean inLine;

	/** A message has come while the store was being asked. */
	private boolean rung;

	/** Grows with each begin and end of listening, so it tells one alarm from another. */
	private volatile long alarmNumber;

	private boolean admitting;

	private volatile @Nullable Outage outage;

	/** Set and cancelled by the desk. */
	private volatile Timetable.@Nullable Entry alarm;

	LocalLock(LockKey key, LocalLocks locks) {
		this.key = key;
		this.locks = locks;
	}

	LockKey key() {
		return this.key;
	}

	/**
	 * Return since when the store has answered no question about this lock, if so.
	 */
	@Nullable Outage outage() {
		return this.outage;
	}

	Timetable.@Nullable Entry alarm() {
		return this.alarm;
	}

	/**
	 * Return whether an alarm still counts.
	 */
	boolean awaitsAlarm(long number) {
		return number == this.alarmNumber;
	}

	void setAlarm(Timetable.Entry alarm) {
		this.alarm = alarm;
	}

	/**
	 * A waiter comes. It has {@linkplain Waiter#lock() arrived} afterwards, or has to
	 * come again.
	 * @return {@code null} if this lock is over and the waiter has to look for another
	 */
	@Nullable Effect arrive(Waiter waiter) {
		this.guard.lock();
		try {
			if (this.over) {
				return null;
			}
			Hold own = this.holders.of(waiter.owner());
			if (own != null) {
				return reenter(own, waiter);
			}
			waiter.arrived(this);
			if (this.locks.isRefusing()) {
				waiter.settle(Denial.REFUSED);
				endIfIdle();
				return Effect.NONE;
			}
			boolean first = this.queue.isEmpty();
			boolean free = this.phase == Phase.IDLE || (first && this.phase == Phase.ASKING);
			if (!free && first && canJoin(waiter)) {
				return join(waiter, Objects.requireNonNull(this.tenure));
			}
			if (!free && waiter.isOutOfTime()) {
				waiter.settle(denial());
				return Effect.NONE;
			}
			this.queue.add(waiter);
			return (this.phase == Phase.IDLE) ? ask() : queued(waiter);
		}
		finally {
			this.guard.unlock();
		}
	}

	private Effect reenter(Hold own, Waiter waiter) {
		if (!own.isHeld()) {
			if (!own.isLost()) {
				return (desk) -> desk.expire(own);
			}
			if (own.mayBeAbandoned()) {
				this.holders.forgetIfAbandoned(own);
				endIfIdle();
				return Effect.NONE;
			}
			waiter.settle(Denial.misuse(own.loss()));
		}
		else if (!own.covers(waiter.mode())) {
			waiter.settle(Denial.misuse(upgrading(waiter)));
		}
		else {
			waiter.setReentered();
			waiter.settle(own.enter());
		}
		waiter.arrived(this);
		return Effect.NONE;
	}

	private IllegalStateException upgrading(Waiter waiter) {
		return new IllegalStateException("Lock '" + this.key + "' is held for reading and cannot be asked for in mode "
				+ waiter.mode() + " as well: two readers that do so would wait for each other. Give it back"
				+ " before, or ask for the stronger mode first");
	}

	private Effect join(Waiter waiter, Tenure shared) {
		if (shared.mustAsk(shared.now())) {
			this.queue.add(waiter);
			return probe(shared);
		}
		waiter.settle(begin(waiter, shared));
		return goOn(shared);
	}

	private Effect queued(Waiter waiter) {
		if (waiter.discipline().standsInLineItself()) {
			return (desk) -> desk.enterLine(this.key, waiter);
		}
		return waiter.discipline().joinsHolders() ? admitLater() : Effect.NONE;
	}

	/**
	 * Return what a waiter is told that is out of time before its turn.
	 */
	private Denial denial() {
		Outage outage = this.outage;
		return (outage != null) ? Denial.unavailable(outage.cause()) : Denial.CONTENDED;
	}

	/**
	 * Let the first waiter ask the store.
	 */
	private Effect ask() {
		Waiter head = first();
		Duration leaseTime = this.locks.leaseTimeFor(head);
		Effect orphan = Effect.NONE;
		Attempt attempt = this.attempt;
		if (attempt == null || !attempt.suits(head, leaseTime)) {
			orphan = dropAttempt();
			attempt = new Attempt(head, leaseTime);
			this.attempt = attempt;
		}
		if (head.isOutOfTime()) {
			head.setLast();
		}
		this.phase = Phase.ASKING;
		this.alarmNumber = this.alarmNumber + 1;
		this.rung = false;
		Attempt asking = attempt;
		return orphan.and((desk) -> desk.ask(this, asking, head));
	}

	private Effect dropAttempt() {
		Attempt attempt = this.attempt;
		this.attempt = null;
		return (attempt != null && attempt.uncertainUntil() != null) ? (desk) -> desk.orphan(this.key, attempt)
				: Effect.NONE;
	}

	/**
	 * The store has granted the lock.
	 * @param grant its answer
	 * @param tenure what it begins
	 */
	Effect granted(Attempt attempt, LockGrant grant, Tenure tenure) {
		this.guard.lock();
		try {
			this.outage = null;
			this.inLine = false;
			if (!tenure.isHeld()) {
				return grantedTooLate(attempt);
			}
			if (attempt.uncertainUntil() != null) {
				tenure.uncertainUntil(attempt.uncertainUntil());
			}
			this.attempt = null;
			if (this.queue.isEmpty() || !attempt.suits(first(), this.locks.leaseTimeFor(first()))) {
				// The waiter has left in the meantime
				return giveBack(tenure, null);
			}
			Waiter head = takeFirst();
			return hold(head, tenure);
		}
		finally {
			this.guard.unlock();
		}
	}

	private Effect hold(Waiter waiter, Tenure tenure) {
		this.tenure = tenure;
		this.phase = Phase.HELD;
		waiter.settle(begin(waiter, tenure));
		List<Waiter> served = new ArrayList<>(1);
		served.add(waiter);
		served.addAll(joinFromQueue());
		return Effect.wake(served)
			.and((desk) -> desk.watch(tenure))
			.and(tenure.isShared() ? admitLater() : Effect.NONE);
	}

	private Effect grantedTooLate(Attempt attempt) {
		attempt.failed(new IllegalStateException(
				"The store granted the lock later than its lease of " + attempt.leaseTime().toMillis() + " ms"));
		Effect orphan = dropAttempt();
		if (this.queue.isEmpty()) {
			return orphan.and(proceed());
		}
		Waiter head = first();
		head.dropToken();
		if (head.isLast() || head.isOutOfTime()) {
			return orphan.and(deny(head, Denial.unavailable(Objects.requireNonNull(attempt.failure())))).and(proceed());
		}
		return orphan.and(ask());
	}

	/**
	 * The store has refused the lock.
	 */
	Effect refused(Attempt attempt, LockRefusal refusal) {
		this.guard.lock();
		try {
			this.outage = null;
			attempt.answered();
			noteLine(attempt);
			if (this.queue.isEmpty()) {
				return proceed();
			}
			if (first().isLast()) {
				return deny(first(), Denial.CONTENDED).and(proceed());
			}
			if (this.rung || !attempt.suits(first(), this.locks.leaseTimeFor(first()))) {
				return ask();
			}
			return listen((desk) -> desk.pause(refusal.remaining(), attempt.isInLine()));
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * The store has given no answer.
	 * @param failure why
	 * @param interrupted whether an interrupt has ended the request, which says nothing
	 * about the store
	 */
	Effect failed(Attempt attempt, RuntimeException failure, boolean interrupted) {
		this.guard.lock();
		try {
			attempt.failed(interrupted ? null : failure);
			noteLine(attempt);
			if (this.queue.isEmpty()) {
				return proceed();
			}
			Waiter head = first();
			if (interrupted) {
				return ask();
			}
			if (failure instanceof UnusableStoreException) {
				return deny(head, Denial.unavailable(failure)).and(proceed());
			}
			Outage earlier = this.outage;
			Outage outage = new Outage((earlier != null) ? earlier.since() : attempt.sentAt(), failure);
			this.outage = outage;
			// One slow request, as the first one of all may be, is no outage yet
			boolean bearable = this.locks.bearable(outage, head) > 0 || (earlier == null && this.locks.bearsOutages());
			if (head.isLast() || !bearable) {
				return deny(head, Denial.unavailable(failure)).and(proceed());
			}
			long remaining = this.locks.bearable(outage, head);
			return listen((desk) -> Math.min(desk.retryPause(attempt), remaining));
		}
		finally {
			this.guard.unlock();
		}
	}

	private void noteLine(Attempt attempt) {
		this.inLine |= attempt.isInLine() && !Discipline.of(attempt.mode()).standsInLineItself();
	}

	private Effect deny(Waiter waiter, Denial denial) {
		this.queue.remove(waiter);
		waiter.settle(denial);
		return (desk) -> waiter.wake();
	}

	private Effect listen(ToLongFunction<Desk> pause) {
		this.phase = Phase.LISTENING;
		long number = this.alarmNumber + 1;
		this.alarmNumber = number;
		return (desk) -> desk.listen(this, number, pause.applyAsLong(desk));
	}

	/**
	 * Go on with the next waiter, or end without one.
	 */
	private Effect proceed() {
		Effect denied = Effect.NONE;
		while (!this.queue.isEmpty()) {
			Outage outage = this.outage;
			if (outage == null || this.locks.bearable(outage, first()) > 0) {
				return denied.and(ask());
			}
			denied = denied.and(deny(first(), Denial.unavailable(outage.cause())));
		}
		return denied.and(end());
	}

	private Effect end() {
		Effect effect = dropAttempt()
			.and((this.phase == Phase.LISTENING) ? (desk) -> desk.cancelAlarm(this) : Effect.NONE);
		if (this.inLine) {
			this.inLine = false;
			effect = effect.and((desk) -> desk.withdraw(this.key));
		}
		this.phase = Phase.IDLE;
		this.alarmNumber = this.alarmNumber + 1;
		this.outage = null;
		endIfIdle();
		return effect;
	}

	/**
	 * A message says that the lock may be free.
	 */
	Effect rung() {
		this.guard.lock();
		try {
			this.rung = true;
			return (this.phase == Phase.LISTENING) ? ask() : Effect.NONE;
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * An alarm says that it is time to ask again.
	 * @param number which one; those before the last count no more
	 */
	Effect alarm(long number) {
		this.guard.lock();
		try {
			return (this.phase == Phase.LISTENING && number == this.alarmNumber) ? ask() : Effect.NONE;
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * A waiter leaves, unless it has its outcome already. One that is out of time while
	 * the store is being asked for it waits for that answer.
	 * @param timedOut whether it is out of time; else it was interrupted or cancelled
	 */
	Effect leave(Waiter waiter, boolean timedOut) {
		this.guard.lock();
		try {
			if (!this.queue.contains(waiter)) {
				return Effect.NONE;
			}
			boolean head = first() == waiter;
			if (timedOut && head && this.phase == Phase.LISTENING && !hasFailed()) {
				return ask();
			}
			if (timedOut && head && (this.phase == Phase.ASKING || readersTenureToAskFor() != null)) {
				waiter.setLast();
				return Effect.NONE;
			}
			boolean listening = this.phase == Phase.LISTENING;
			Effect left = deny(waiter, timedOut ? denial() : Denial.LEFT);
			if (head && listening) {
				return left.and(proceed());
			}
			return left.and(admit());
		}
		finally {
			this.guard.unlock();
		}
	}

	private boolean hasFailed() {
		return this.attempt != null && this.attempt.failure() != null;
	}

	/**
	 * An owner leaves one level of its hold, and the lock with the last one.
	 */
	Effect exit(Hold hold) {
		this.guard.lock();
		try {
			if (!hold.leave()) {
				if (hold.isLost()) {
					this.holders.forgetIfAbandoned(hold);
					endIfIdle();
				}
				return Effect.NONE;
			}
			if (!this.holders.remove(hold)) {
				endIfIdle();
				return Effect.NONE;
			}
			long now = hold.tenure().now();
			hold.end(now);
			Effect ended = (hold.isLost() || hold.alarm() != null) ? (desk) -> desk.ended(hold) : Effect.NONE;
			if (!this.holders.isEmpty()) {
				return ended.and(othersHold(hold.tenure()));
			}
			if (!hold.isLost() && hold.keptUntil() - now > 0) {
				this.tenure = null;
				this.phase = Phase.RETURNING;
				hold.setKept();
				return ended.and((desk) -> desk.keep(this, hold));
			}
			return ended.and(passOn(hold, now, false));
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * The fixed lease time of a hold is over, though its body still runs.
	 */
	Effect expire(Hold hold) {
		this.guard.lock();
		try {
			if (!this.holders.lose(hold, null)) {
				return Effect.NONE;
			}
			Effect ended = (desk) -> desk.ended(hold);
			return ended
				.and(this.holders.isEmpty() ? passOn(hold, hold.tenure().now(), false) : othersHold(hold.tenure()));
		}
		finally {
			this.guard.unlock();
		}
	}

	private Effect othersHold(Tenure tenure) {
		if (tenure.leaseTime().compareTo(this.locks.leaseTime()) > 0) {
			tenure.shorten(this.holders.longestLeaseTime(this.locks.leaseTime()));
		}
		return (desk) -> desk.watch(tenure);
	}

	/**
	 * Hand the lock on within this JVM if that may be, else give it back.
	 * @param asked whether it was just asked if another JVM waits
	 */
	private Effect passOn(Hold hold, long now, boolean asked) {
		Tenure tenure = hold.tenure();
		if (!canHandOn(tenure, now)) {
			return giveBack(tenure, hold);
		}
		if (!asked && tenure.mustAsk(now)) {
			this.phase = Phase.RETURNING;
			this.lastHold = hold;
			return probe(tenure);
		}
		Waiter next = takeFirst();
		next.settle(begin(next, tenure));
		this.phase = Phase.HELD;
		boolean probing = tenure.slice().beginProbe(now);
		return (desk) -> {
			next.wake();
			desk.watch(tenure);
			if (probing) {
				desk.probe(this, tenure);
			}
		};
	}

	private boolean canHandOn(Tenure tenure, long now) {
		return !this.queue.isEmpty() && first().discipline().takesHandOff() && tenure.isFor(first().mode())
				&& tenure.canBeHandedOn(now);
	}

	private Effect giveBack(Tenure tenure, @Nullable Hold hold) {
		this.tenure = null;
		this.lastHold = null;
		this.phase = Phase.RETURNING;
		this.rung = false;
		LockMode next = this.queue.isEmpty() ? null : first().mode();
		return (desk) -> desk.giveBack(this, tenure, hold, next);
	}

	/**
	 * The lock was given back or kept, and its next waiter may go on.
	 * @param inLine whether this JVM stands in the line of the store, and will be told
	 * when it is its turn
	 */
	Effect returned(boolean inLine) {
		this.guard.lock();
		try {
			boolean own = !this.queue.isEmpty() && first().discipline().standsInLineItself();
			this.inLine |= inLine && !own;
			// A waiter that came to the line after the release is told of none
			boolean told = inLine && !this.rung && !this.queue.isEmpty() && (!own || first().place().isTaken());
			return told ? listen((desk) -> desk.pause(null, true)) : proceed();
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * The question whether another JVM waits is answered, or will not be.
	 */
	Effect probed(Tenure tenure) {
		this.guard.lock();
		try {
			if (this.tenure != tenure) {
				return Effect.NONE;
			}
			Hold last = this.lastHold;
			if (last != null) {
				this.lastHold = null;
				return passOn(last, tenure.now(), true);
			}
			Effect admitted = admitted();
			while (!this.queue.isEmpty() && first().isLast()) {
				admitted = admitted.and(deny(first(), denial()));
			}
			return admitted;
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * A tenure was lost, and the lock with it for all that hold it.
	 */
	Effect lose(Tenure tenure) {
		this.guard.lock();
		try {
			if (this.tenure != tenure) {
				return Effect.NONE;
			}
			this.tenure = null;
			this.lastHold = null;
			List<Hold> lost = this.holders.loseAll(tenure.lossReason());
			Effect told = (desk) -> lost.forEach(desk::ended);
			return told.and(proceed());
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * The registry is shutting down: nobody waits any longer.
	 */
	Effect refuse() {
		this.guard.lock();
		try {
			List<Waiter> refused = List.copyOf(this.queue);
			this.queue.clear();
			refused.forEach((waiter) -> waiter.settle(Denial.REFUSED));
			return Effect.wake(refused).and((this.phase == Phase.LISTENING) ? end() : Effect.NONE);
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * A waiter comes for several locks at once, which are asked for by one request. It is
	 * served if nobody is here, and then either {@link #granted} or {@link #abandon}
	 * comes next.
	 * @return {@code null} if this lock is over and the waiter has to look for another
	 */
	@Nullable Boolean reserve(Waiter waiter, Attempt attempt) {
		this.guard.lock();
		try {
			if (this.over) {
				return null;
			}
			Hold own = this.holders.of(waiter.owner());
			if (own != null) {
				return own.isHeld() && own.covers(waiter.mode()) && reenter(own, waiter) == Effect.NONE;
			}
			if (this.phase != Phase.IDLE) {
				return false;
			}
			waiter.arrived(this);
			this.queue.add(waiter);
			this.attempt = attempt;
			this.phase = Phase.ASKING;
			return true;
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * A waiter that has reserved this lock gives it up.
	 */
	Effect abandon(Waiter waiter) {
		this.guard.lock();
		try {
			this.attempt = null;
			return deny(waiter, Denial.LEFT).and(proceed());
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Look whether readers that wait may join those that hold the lock by now.
	 */
	Effect look() {
		this.guard.lock();
		try {
			this.admitting = false;
			Tenure tenure = sharedTenure();
			if (tenure == null || !hasReaderInQueue()) {
				return Effect.NONE;
			}
			tenure.setWanted();
			boolean asking = tenure.slice().isOver(tenure.now()) && tenure.slice().beginAsking(tenure.now());
			Effect probe = asking ? (desk) -> desk.probe(this, tenure) : Effect.NONE;
			return admit().and((desk) -> desk.watch(tenure)).and(probe).and(admitLater());
		}
		finally {
			this.guard.unlock();
		}
	}

	private Effect admitLater() {
		if (this.admitting || sharedTenure() == null || !hasReaderInQueue()) {
			return Effect.NONE;
		}
		this.admitting = true;
		return (desk) -> desk.admitLater(this);
	}

	/**
	 * Let readers at the head of the queue join, or ask first whether they may.
	 */
	private Effect admit() {
		Tenure unknown = readersTenureToAskFor();
		return (unknown != null) ? probe(unknown) : admitted();
	}

	private Effect admitted() {
		List<Waiter> joined = joinFromQueue();
		Tenure tenure = this.tenure;
		return (joined.isEmpty() || tenure == null) ? Effect.NONE : Effect.wake(joined).and(goOn(tenure));
	}

	private Effect goOn(Tenure tenure) {
		boolean probing = tenure.slice().beginProbe(tenure.now());
		return (desk) -> {
			desk.watch(tenure);
			if (probing) {
				desk.probe(this, tenure);
			}
		};
	}

	private Effect probe(Tenure tenure) {
		return tenure.slice().beginAsking(tenure.now()) ? (desk) -> desk.probe(this, tenure) : Effect.NONE;
	}

	private @Nullable Tenure readersTenureToAskFor() {
		Tenure tenure = sharedTenure();
		return (tenure != null && tenure.mustAsk(tenure.now()) && !this.queue.isEmpty() && canJoin(first())) ? tenure
				: null;
	}

	private @Nullable Tenure sharedTenure() {
		Tenure tenure = this.tenure;
		return (tenure != null && tenure.isShared()) ? tenure : null;
	}

	private boolean hasReaderInQueue() {
		return this.queue.stream().anyMatch((waiter) -> waiter.discipline().joinsHolders());
	}

	private List<Waiter> joinFromQueue() {
		List<Waiter> joined = new ArrayList<>(0);
		while (!this.queue.isEmpty() && canJoin(first())) {
			Waiter next = takeFirst();
			next.settle(begin(next, Objects.requireNonNull(this.tenure)));
			joined.add(next);
		}
		return joined;
	}

	private boolean canJoin(Waiter waiter) {
		Tenure tenure = sharedTenure();
		return tenure != null && waiter.discipline().joinsHolders() && tenure.canBeHandedOn(tenure.now());
	}

	private Hold begin(Waiter waiter, Tenure tenure) {
		Hold hold = tenure.beginHold(waiter, this.locks.leaseTimeFor(waiter), tenure.now());
		this.holders.add(hold);
		return hold;
	}

	private Waiter first() {
		return this.queue.iterator().next();
	}

	private Waiter takeFirst() {
		Waiter first = first();
		this.queue.remove(first);
		return first;
	}

	private void endIfIdle() {
		if (this.phase == Phase.IDLE && !this.over && !this.holders.hasLost()) {
			this.over = true;
			this.locks.remove(this);
		}
	}

	@Nullable Hold holdOf(Object owner) {
		this.guard.lock();
		try {
			return this.holders.of(owner);
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Return whether somebody holds the lock, and not only waits for it.
	 */
	boolean isHeld() {
		this.guard.lock();
		try {
			return !this.holders.isEmpty();
		}
		finally {
			this.guard.unlock();
		}
	}

	private enum Phase {

		/** Nobody holds the lock or waits for it, but for owners that have lost it. */
		IDLE,

		/** The store is being asked on behalf of the first waiter. */
		ASKING,

		/** The store has refused: a message or an alarm lets it be asked again. */
		LISTENING,

		/** An owner in this JVM holds the lock, or several share it. */
		HELD,

		/** The last hold has ended, and the next waiter may not ask yet. */
		RETURNING

	}

}
