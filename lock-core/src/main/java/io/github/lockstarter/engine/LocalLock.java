// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.UnusableStoreException;

/**
 * One lock inside this JVM: who holds it, who waits for it, and what the store is asked
 * next. A transition runs under the guard; what it leaves to do runs afterwards on the
 * same thread, because the store and user code must never be called under the guard. At
 * most one request for the lock is under way, on behalf of the first waiter.
 */
final class LocalLock {

	private final LockKey key;

	private final Terms terms;

	private final Warnings warnings;

	private final LockActions actions;

	private final Consumer<LocalLock> idle;

	private final ReentrantLock guard = new ReentrantLock();

	/** What the transition under way leaves to do. */
	private @Nullable List<Runnable> remaining;

	/** In the order of their arrival. Without memory of its own while it is empty. */
	private Set<Waiter> queue = Collections.emptySet();

	/** By owner. Most locks have one hold, and there may be many locks. */
	private Map<Object, Hold> holds = Map.of();

	/** Holds that were lost without their owner having noticed, for those who look. */
	private List<Hold> lost = Collections.emptyList();

	/**
	 * The newest ownership. Readers may have older ones beside it, which last as long as
	 * their holds.
	 */
	private @Nullable Ownership current;

	/** How many releases are not on their way yet, which no request may overtake. */
	private int releasing;

	/** The requests under one token, until they are granted or given up. */
	private @Nullable Attempt attempt;

	private boolean asking;

	/** Whether a message has come since the last request. */
	private boolean notified;

	/** Asks again unless a message comes before. */
	private Timetable.@Nullable Entry alarm;

	private @Nullable Outage outage;

	private AcquireResult.Refusal refusal = AcquireFailure.NOTHING_KNOWN;

	private long refusedAt;

	/** What this JVM owes to others while they poll for the lock. */
	private @Nullable Courtesy courtesy;

	/** When the next warning may come, if there was one. */
	private @Nullable Long nextWarning;

	/** The last first waiter for which the places of the others were entered again. */
	private @Nullable Waiter repairedFor;

	/** Whether this JVM may stand in the line of the store with exclusive waiters. */
	private boolean exclusivePlace;

	/** Whether it may stand there with readers. */
	private boolean sharedPlace;

	private boolean over;

	/**
	 * Create an idle lock.
	 * @param idle called when the lock is idle, under its guard
	 */
	LocalLock(LockKey key, Terms terms, Warnings warnings, LockActions actions, Consumer<LocalLock> idle) {
		this.key = key;
		this.terms = terms;
		this.warnings = warnings;
		this.actions = actions;
		this.idle = idle;
		this.courtesy = terms.unpark(key);
	}

	LockKey key() {
		return this.key;
	}

	/**
	 * A waiter arrives. Afterwards it {@linkplain Waiter#hasArrived() has arrived}, or it
	 * must come again.
	 */
	void arrive(Waiter waiter) {
		change(() -> {
			Hold own = this.holds.get(waiter.owner());
			if (this.over) {
				return;
			}
			if (own != null) {
				reenter(own, waiter);
				return;
			}
			waiter.setArrived();
			if (this.terms.isRefusing()) {
				waiter.complete(AcquireFailure.REFUSED);
				return;
			}
			enqueue(waiter);
			proceed();
			if (!this.queue.contains(waiter)) {
				return;
			}
			if (waiter.isOutOfTime() && !awaitsAnswer(waiter)) {
				fail(waiter, failure());
			}
			else if (waiter.isFair() && !(this.asking && first() == waiter)) {
				after(() -> this.actions.enterLine(this.key, waiter));
			}
		});
	}

	private void reenter(Hold own, Waiter waiter) {
		if (!own.isHeld()) {
			// Its time is over, but its alarm has not rung yet: the waiter comes again
			after(() -> this.actions.expire(own));
			return;
		}
		waiter.setArrived();
		waiter.complete(reentered(own, waiter));
	}

	private static Waiter.Outcome reentered(Hold own, Waiter waiter) {
		if (!own.covers(waiter.mode())) {
			return AcquireFailure.misuse(upgrading(own, waiter));
		}
		waiter.setReentered();
		return own.enter();
	}

	private static IllegalStateException upgrading(Hold own, Waiter waiter) {
		return new IllegalStateException("Lock '" + own.key() + "' is held for reading and cannot be acquired in mode "
				+ waiter.mode() + " as well: two readers that tried would deadlock. Release it first (inside a"
				+ " transaction, a lock is held until that ends), or acquire the stronger mode first");
	}

	/**
	 * A waiter leaves, unless it already has its outcome. If its wait time ends while the
	 * store is being asked on its behalf, it stays until the answer comes or is overdue,
	 * because only the answer tells contention from an outage.
	 * @param timedOut whether its wait time is over; otherwise it was interrupted or
	 * cancelled
	 */
	void leave(Waiter waiter, boolean timedOut) {
		change(() -> {
			if (!this.queue.contains(waiter)) {
				return;
			}
			if (timedOut && awaitsAnswer(waiter)) {
				return;
			}
			boolean head = first() == waiter;
			fail(waiter, timedOut ? failure() : AcquireFailure.LEFT);
			if (head) {
				endWaiting();
				failImpatient();
			}
			proceed();
		});
	}

	/** The answer is for the first waiter, and for readers that share its grant. */
	private boolean awaitsAnswer(Waiter waiter) {
		Attempt attempt = this.attempt;
		if (!this.asking || (attempt != null && attempt.isOverdue(this.terms.now()))) {
			return false;
		}
		return first() == waiter || (waiter.isShared() && attempt != null && attempt.suits(waiter)
				&& this.queue.stream().takeWhile((before) -> before != waiter).allMatch((before) -> before.isShared()));
	}

	/** The one place that decides what comes next. */
	private void proceed() {
		while (!this.asking && this.alarm == null && !this.queue.isEmpty()) {
			Waiter head = first();
			Ownership current = this.current;
			if (current != null && suits(head, current) && current.canBeHandedOn(this.terms.now())) {
				grant(current, head, this.terms.now());
			}
			else if (this.releasing > 0 || isHeldAgainst(head)) {
				return;
			}
			else {
				ask(head);
			}
		}
		if (this.queue.isEmpty() && !this.asking) {
			stopAsking();
		}
	}

	/** Hand-off to a next owner, and the joining of a further reader. */
	private boolean suits(Waiter next, Ownership ownership) {
		boolean handedOff = !ownership.isShared() && this.holds.isEmpty();
		boolean joined = ownership.isShared() && !this.holds.isEmpty();
		return (handedOff || joined) && ownership.suits(next);
	}

	/**
	 * A reader asks the store although this JVM reads already: a writer may wait there.
	 */
	private boolean isHeldAgainst(Waiter next) {
		return !this.holds.isEmpty() && !(next.isShared() && anyOwnership().isShared());
	}

	private Ownership anyOwnership() {
		return (this.current != null) ? this.current : this.holds.values().iterator().next().ownership();
	}

	/**
	 * Ask on behalf of the first waiter, but leave the lock free for others before if
	 * they have to poll for it, and the waiter has the time.
	 */
	private void ask(Waiter head) {
		long pause = (this.courtesy != null && !head.isOutOfTime()) ? this.courtesy.pause(this.terms.now()) : 0;
		if (pause > 0) {
			waitFor(pause);
			return;
		}
		Attempt attempt = this.attempt;
		if (attempt == null || !attempt.suits(head)) {
			dropAttempt();
			attempt = new Attempt(head);
			this.attempt = attempt;
		}
		this.asking = true;
		this.notified = false;
		Attempt asking = attempt;
		asking.want(this.terms.now());
		after(() -> this.actions.ask(this.key, asking, head));
	}

	private void grant(Ownership ownership, Waiter waiter, long now) {
		remove(waiter);
		Hold hold = ownership.beginHold(waiter, now);
		add(hold);
		waiter.complete(hold);
		after(() -> {
			try {
				waiter.wake();
			}
			finally {
				this.actions.watch(ownership);
			}
		});
		// A thread waits for one request at a time
		if (!this.queue.isEmpty() && !(hold.owner() instanceof Thread)) {
			letOthersOfOwnerIn(hold);
		}
		// The watchdog looks at holds that last, and not at a chain of short ones
		warnOfWait(now);
	}

	/** Other requests of the owner that wait are nested ones from now on. */
	private void letOthersOfOwnerIn(Hold hold) {
		this.queue.stream().filter((waiter) -> waiter.owner().equals(hold.owner())).toList().forEach((waiter) -> {
			remove(waiter);
			waiter.complete(reentered(hold, waiter));
			after(waiter::wake);
		});
	}

	/**
	 * The store has granted the lock.
	 * @param ownership the ownership that the grant begins
	 */
	void granted(Attempt attempt, Ownership ownership) {
		change(() -> {
			answered();
			if (!ownership.isHeld()) {
				grantedTooLate(attempt);
				return;
			}
			if (attempt.uncertainUntil() != null) {
				ownership.uncertainUntil(attempt.uncertainUntil());
			}
			noteGrant(attempt);
			this.attempt = null;
			Waiter head = this.queue.isEmpty() ? null : first();
			if (head != null && attempt.suits(head)) {
				setCurrent(ownership);
				grant(ownership, head, this.terms.now());
			}
			else {
				// Who asked has left
				release(ownership, null);
			}
			proceed();
		});
	}

	private void noteGrant(Attempt attempt) {
		setPlace(attempt.mode(), false);
		if (attempt.isInLine()) {
			this.courtesy = null;
		}
		else if (attempt.isPolling() || this.courtesy != null) {
			courtesy().granted(this.terms.now());
		}
	}

	/** The lease has expired before the answer came. */
	private void grantedTooLate(Attempt attempt) {
		setPlace(attempt.mode(), false);
		RuntimeException late = new IllegalStateException(
				"the store granted it later than its lease of " + attempt.leaseTime().toMillis() + " ms");
		attempt.uncertainUntil(this.terms.now() + attempt.leaseTime().toNanos());
		if (!this.queue.isEmpty() && attempt.isFor(first())) {
			OwnerToken left = first().renewToken();
			if (left != null) {
				after(() -> this.actions.withdraw(this.key, left));
			}
		}
		dropAttempt();
		failOutOfTime(AcquireFailure.late(late));
		proceed();
	}

	/**
	 * The store has granted a request that was given up, so that it must be given back
	 * unless the same attempt is still under way or owns the lock by now.
	 */
	void grantedLate(Attempt attempt) {
		change(() -> {
			attempt.grantedLate(this.terms.now());
			Long until = attempt.uncertainUntil();
			if (this.attempt == attempt || until == null) {
				return;
			}
			for (Ownership ownership : ownershipsNow().toList()) {
				if (ownership.owner().equals(attempt.token())) {
					ownership.uncertainUntil(until);
					return;
				}
			}
			after(() -> this.actions.orphan(this.key, attempt));
		});
	}

	void refused(Attempt attempt, AcquireResult.Refusal refusal) {
		change(() -> {
			answered();
			attempt.refused();
			if (attempt.isPolling()) {
				courtesy().refused(this.terms.now());
			}
			noteLine(attempt);
			this.refusal = refusal;
			this.refusedAt = this.terms.now();
			warnOfWait(this.refusedAt);
			if (!this.queue.isEmpty() && attempt.suits(first())) {
				Waiter asked = first();
				failOutOfTime(contended());
				if (this.queue.contains(asked) && !this.notified) {
					waitFor(this.terms.pause(refusal.remaining(), attempt.isInLine(), attempt.refusals()));
				}
			}
			proceed();
		});
	}

	private void answered() {
		this.asking = false;
		this.outage = null;
	}

	/**
	 * The request has failed.
	 * @param failure the reason
	 * @param interrupted the waiter whose interrupt has ended the request, or
	 * {@code null}; an interrupt says nothing about the store
	 */
	void failed(Attempt attempt, RuntimeException failure, @Nullable Waiter interrupted) {
		change(() -> {
			this.asking = false;
			attempt.failed();
			noteLine(attempt);
			if (interrupted != null) {
				if (this.queue.contains(interrupted)) {
					fail(interrupted, AcquireFailure.LEFT);
				}
			}
			else if (!this.queue.isEmpty()) {
				failedFor(first(), attempt, failure);
			}
			proceed();
		});
	}

	private void failedFor(Waiter head, Attempt attempt, RuntimeException failure) {
		if (failure instanceof IllegalArgumentException) {
			fail(head, AcquireFailure.misuse(new IllegalArgumentException(
					"The store cannot keep lock '" + this.key + "': " + failure.getMessage(), failure)));
			return;
		}
		Outage before = this.outage;
		Outage outage = new Outage((before != null) ? before.since() : attempt.sentAt(), failure);
		this.outage = outage;
		long tolerance = this.terms.outageTime() - outage.borneBy(head, this.terms.now());
		// One slow request, such as the very first one, is no outage yet
		boolean tolerated = tolerance > 0 || (before == null && this.terms.outageTime() > 0);
		boolean again = tolerated && !head.isOutOfTime() && !(failure instanceof UnusableStoreException);
		failOutOfTime(AcquireFailure.unavailable(failure));
		if (again) {
			waitFor(Math.min(this.terms.jittered(attempt.nextRetryPause()), tolerance));
			return;
		}
		if (this.queue.contains(head)) {
			fail(head, AcquireFailure.unavailable(failure));
		}
		failImpatient();
	}

	/** Dismiss the first waiters as long as they have borne the outage for too long. */
	private void failImpatient() {
		Outage outage = this.outage;
		while (outage != null && !this.queue.isEmpty()
				&& outage.borneBy(first(), this.terms.now()) >= this.terms.outageTime()) {
			fail(first(), AcquireFailure.unavailable(outage.cause()));
		}
	}

	/**
	 * The answer to the request under way is overdue: a waiter without time no longer
	 * waits for it.
	 */
	void overdue(Attempt attempt) {
		change(() -> {
			if (this.asking && this.attempt == attempt && attempt.isOverdue(this.terms.now())) {
				failOutOfTime(AcquireFailure.unavailable(Answers.noAnswer()));
			}
		});
	}

	/** Dismiss the waiters that have only waited for the answer. */
	private void failOutOfTime(AcquireFailure failure) {
		this.queue.stream().filter(Waiter::isOutOfTime).toList().forEach((waiter) -> fail(waiter, failure));
	}

	/**
	 * The store was not asked, because the waiter has left before.
	 */
	void notAsked() {
		change(() -> {
			this.attempt = null;
			this.asking = false;
			proceed();
		});
	}

	/**
	 * Ask again if the lock waits for a message, because it may have been missed.
	 */
	void askAgain() {
		change(this::noteMessage);
	}

	/**
	 * A message says that the lock is free. If this JVM believes to own it, somebody else
	 * may have freed it, so the store is asked at once.
	 */
	void messageArrived() {
		change(() -> {
			ownershipsNow().forEach((ownership) -> after(() -> this.actions.hasten(ownership)));
			if (isIdle()) {
				// Only a loss that its owner has not noticed keeps the lock here
				after(() -> this.actions.withdraw(this.key, null));
			}
			noteMessage();
		});
	}

	private void alarmRings() {
		Waiter first = this.queue.isEmpty() ? null : first();
		boolean stands = this.alarm != null && this.attempt != null && this.attempt.isInLine();
		endPause();
		if (first != null && stands && first != this.repairedFor) {
			this.repairedFor = first;
			enterLineAgain(first);
		}
	}

	/**
	 * Ask for the places of those behind the first waiter again. No message has come for
	 * it, so the store may have lost them: each would wait for a message in vain when it
	 * is the first. Once for each first waiter is no load while a lock is held for long.
	 */
	private void enterLineAgain(Waiter first) {
		for (Waiter waiter : this.queue) {
			if (waiter != first && waiter.isFair()) {
				after(() -> this.actions.enterLine(this.key, waiter));
			}
		}
	}

	private void noteMessage() {
		this.notified = true;
		endPause();
	}

	private void endPause() {
		if (this.alarm != null) {
			endWaiting();
			proceed();
		}
	}

	private void waitFor(long nanos) {
		endWaiting();
		// One that has already begun when it is cancelled only makes the lock ask early
		Timetable.Entry alarm = new Timetable.Entry(this.terms.now() + nanos, () -> change(this::alarmRings));
		this.alarm = alarm;
		after(() -> this.actions.setAlarm(alarm));
	}

	private void endWaiting() {
		Timetable.Entry alarm = this.alarm;
		if (alarm != null) {
			this.alarm = null;
			after(() -> this.actions.cancelAlarm(alarm));
		}
	}

	private void stopAsking() {
		dropAttempt();
		endWaiting();
		if (this.exclusivePlace || this.sharedPlace) {
			this.exclusivePlace = false;
			this.sharedPlace = false;
			after(() -> this.actions.withdraw(this.key, null));
		}
		this.outage = null;
	}

	private void dropAttempt() {
		Attempt attempt = this.attempt;
		this.attempt = null;
		if (attempt != null && attempt.uncertainUntil() != null) {
			after(() -> this.actions.orphan(this.key, attempt));
		}
	}

	/** A FAIR waiter has its own place. */
	private void setPlace(LockMode mode, boolean taken) {
		if (mode == LockMode.READ) {
			this.sharedPlace = taken;
		}
		else if (mode != LockMode.FAIR) {
			this.exclusivePlace = taken;
		}
	}

	private void noteLine(Attempt attempt) {
		if (attempt.isInLine()) {
			setPlace(attempt.mode(), true);
		}
	}

	/**
	 * An owner exits one level of its hold, and releases the lock with the last one.
	 */
	void exit(Hold hold) {
		change(() -> {
			boolean last = hold.leave();
			if (last || hold.mayBeAbandoned()) {
				// Its owner has noticed the loss
				this.lost.remove(hold);
			}
			if (!last || !remove(hold)) {
				return;
			}
			long now = this.terms.now();
			hold.end(now);
			if (hold.isLost() || hold.alarm() != null) {
				after(() -> this.actions.ended(hold));
			}
			passOn(hold, now);
			proceed();
		});
	}

	/**
	 * The fixed lease time of a hold, or its longest time, is over, although its body
	 * still runs.
	 */
	void expire(Hold hold) {
		change(() -> {
			if (lose(hold, null)) {
				passOn(hold, this.terms.now());
				proceed();
			}
		});
	}

	/** Hand the lock on within this JVM if possible, otherwise release or keep it. */
	private void passOn(Hold hold, long now) {
		Ownership ownership = hold.ownership();
		if (!ownership.endHold()) {
			return;
		}
		if (hold.isKept()) {
			beginRelease(ownership);
			after(() -> this.actions.keep(hold));
		}
		else if (ownership == this.current && !this.asking && !this.queue.isEmpty() && suits(first(), ownership)
				&& ownership.canBeHandedOn(now)) {
			this.terms.handedOff();
			grant(ownership, first(), now);
		}
		else {
			release(ownership, hold);
		}
	}

	/**
	 * Release the lock in the store.
	 * @param hold the last hold of the ownership, or {@code null} if there was none
	 */
	private void release(Ownership ownership, @Nullable Hold hold) {
		beginRelease(ownership);
		after(() -> this.actions.release(ownership, hold));
	}

	private void beginRelease(Ownership ownership) {
		if (ownership == this.current) {
			setCurrent(null);
		}
		this.releasing++;
		if (this.courtesy != null) {
			this.courtesy.released(this.terms.now());
		}
	}

	/**
	 * A release is on its way, or answered if the store blocks, and the next waiter may
	 * ask.
	 */
	void returned() {
		change(() -> {
			this.releasing--;
			proceed();
		});
	}

	/**
	 * The watchdog has lost an ownership, and with it its holders the lock.
	 */
	void lose(Ownership ownership) {
		change(() -> {
			String reason = ownership.lossReason();
			List.copyOf(this.holds.values())
				.stream()
				.filter((hold) -> hold.ownership() == ownership)
				.forEach((hold) -> lose(hold, reason));
			if (this.current == ownership) {
				setCurrent(null);
			}
			proceed();
		});
	}

	private boolean lose(Hold hold, @Nullable String reason) {
		if (!remove(hold)) {
			return false;
		}
		hold.lose(reason);
		if (!hold.mayBeAbandoned()) {
			if (this.lost.isEmpty()) {
				this.lost = new ArrayList<>();
			}
			this.lost.add(hold);
		}
		after(() -> this.actions.ended(hold));
		return true;
	}

	/**
	 * Dismiss all waiters, because the registry shuts down.
	 */
	void refuse() {
		change(() -> {
			while (!this.queue.isEmpty()) {
				fail(first(), AcquireFailure.REFUSED);
			}
			proceed();
		});
	}

	/**
	 * The watchdog has looked at the lock, so warnings may be due. If the guard is taken
	 * there are none this time, because the watchdog never waits for it.
	 */
	void seen() {
		if (this.guard.tryLock()) {
			changeGuarded(() -> {
				warnOfHolds();
				warnOfWait(this.terms.now());
			});
		}
	}

	private void warnOfHolds() {
		for (Hold hold : this.holds.values()) {
			if (hold.isWarningDue(this.warnings.dueOf(hold))) {
				after(() -> this.actions.warn(() -> this.warnings.longHold(hold)));
			}
		}
	}

	private void warnOfWait(long now) {
		if (this.queue.isEmpty() || !this.warnings.isDue(first(), now)
				|| (this.nextWarning != null && this.nextWarning - now > 0)) {
			return;
		}
		Waiter first = first();
		this.nextWarning = this.warnings.nextWarning(first);
		int waiters = this.queue.size();
		Hold holder = this.holds.isEmpty() ? null : anyOwnership().hold();
		AcquireResult.Refusal refusal = contended().refusal();
		after(() -> this.actions.warn(() -> this.warnings.longWait(this.key, first, waiters, holder, refusal)));
	}

	private Courtesy courtesy() {
		Courtesy courtesy = (this.courtesy != null) ? this.courtesy : this.terms.newCourtesy();
		this.courtesy = courtesy;
		return courtesy;
	}

	/** Return the failure of a waiter whose wait time ends before its turn. */
	private AcquireFailure failure() {
		if (this.outage != null) {
			return AcquireFailure.unavailable(this.outage.cause());
		}
		boolean slow = this.asking && this.attempt != null && this.attempt.isSlow(this.terms.now());
		return slow ? AcquireFailure.unavailable(Answers.noAnswer()) : contended();
	}

	/** Return the failure that names the holder of the lock, as far as it is known. */
	private AcquireFailure contended() {
		if (!this.holds.isEmpty()) {
			Duration left = Duration.ofNanos(Math.max(0, anyOwnership().remainingNanos()));
			return AcquireFailure.contended(new AcquireResult.Refusal(left, this.terms.instance()));
		}
		Duration remaining = this.refusal.remaining();
		if (remaining == null) {
			return AcquireFailure.contended(this.refusal);
		}
		Duration left = remaining.minusNanos(this.terms.now() - this.refusedAt);
		return AcquireFailure
			.contended(new AcquireResult.Refusal(left.isNegative() ? Duration.ZERO : left, this.refusal.holder()));
	}

	private void setCurrent(@Nullable Ownership ownership) {
		this.current = ownership;
		this.refusal = AcquireFailure.NOTHING_KNOWN;
	}

	private void fail(Waiter waiter, AcquireFailure failure) {
		remove(waiter);
		waiter.complete(failure);
		after(waiter::wake);
	}

	/** Return the waiter whose turn it is. The queue must not be empty. */
	private Waiter first() {
		return this.queue.iterator().next();
	}

	private void enqueue(Waiter waiter) {
		if (this.queue.isEmpty()) {
			this.queue = new LinkedHashSet<>();
		}
		this.queue.add(waiter);
	}

	private void remove(Waiter waiter) {
		this.queue.remove(waiter);
		if (this.queue.isEmpty()) {
			this.queue = Collections.emptySet();
		}
	}

	private void add(Hold hold) {
		if (this.holds.isEmpty()) {
			this.holds = Map.of(hold.owner(), hold);
			return;
		}
		if (this.holds.size() == 1) {
			this.holds = new LinkedHashMap<>(this.holds);
		}
		this.holds.put(hold.owner(), hold);
	}

	private boolean remove(Hold hold) {
		if (this.holds.size() > 1) {
			// The hash code of an owner may have changed
			return this.holds.remove(hold.owner(), hold) || this.holds.values().remove(hold);
		}
		boolean found = this.holds.containsValue(hold);
		if (found) {
			this.holds = Map.of();
		}
		return found;
	}

	/**
	 * Return whether the lock is held, and not only waited for.
	 */
	boolean isHeld() {
		return read(() -> !this.holds.isEmpty());
	}

	/**
	 * Return whether the lock is held, or the store is being asked for it. Before the
	 * first connection, it is not.
	 */
	boolean isInUse() {
		return read(() -> isOwned() || this.alarm != null
				|| (this.asking && this.attempt != null && this.attempt.isSent()));
	}

	private boolean isOwned() {
		return this.current != null || this.releasing > 0 || !this.holds.isEmpty();
	}

	private boolean isIdle() {
		return !isOwned() && !this.asking && this.alarm == null;
	}

	/** Called under the guard. */
	boolean isOver() {
		return this.over;
	}

	/**
	 * Return who holds the lock and who waits for it in this JVM.
	 */
	Users users() {
		return read(() -> {
			List<Hold> holds = new ArrayList<>(this.holds.values());
			holds.addAll(this.lost);
			return new Users(holds, List.copyOf(this.queue), AcquireFailure.holder(contended()));
		});
	}

	/**
	 * Return the ownerships in the store: one, or several of readers.
	 */
	List<Ownership> ownerships() {
		return read(() -> ownershipsNow().toList());
	}

	private Stream<Ownership> ownershipsNow() {
		Stream<Ownership> ofHolds = this.holds.values().stream().map(Hold::ownership);
		return ((this.current != null) ? Stream.concat(Stream.of(this.current), ofHolds) : ofHolds).distinct();
	}

	private <T extends @Nullable Object> T read(Supplier<T> state) {
		this.guard.lock();
		try {
			return state.get();
		}
		finally {
			this.guard.unlock();
		}
	}

	/** Leave something to do when the guard is free again. */
	private void after(Runnable action) {
		List<Runnable> remaining = this.remaining;
		if (remaining == null) {
			remaining = new ArrayList<>(4);
			this.remaining = remaining;
		}
		remaining.add(action);
	}

	private void change(Runnable transition) {
		this.guard.lock();
		changeGuarded(transition);
	}

	private void changeGuarded(Runnable transition) {
		try {
			transition.run();
			if (!this.over && isIdle()) {
				this.over = this.lost.isEmpty();
				if (this.over && this.courtesy != null) {
					// It may soon be wanted again
					this.terms.park(this.key, this.courtesy);
				}
				this.idle.accept(this);
			}
		}
		finally {
			List<Runnable> remaining = this.remaining;
			this.remaining = null;
			this.guard.unlock();
			if (remaining != null) {
				runAll(remaining);
			}
		}
	}

	/** Each is run even if others fail: it may wake a waiter or release the lock. */
	private static void runAll(List<Runnable> actions) {
		Throwable failure = null;
		for (Runnable action : actions) {
			try {
				action.run();
			}
			catch (RuntimeException | Error ex) {
				failure = (failure != null) ? failure : ex;
			}
		}
		if (failure instanceof RuntimeException ex) {
			throw ex;
		}
		if (failure instanceof Error ex) {
			throw ex;
		}
	}

	/**
	 * The users of a lock at a moment.
	 *
	 * @param holds its holds, with those that are lost without their owner having noticed
	 * @param waiters its waiters, the first one first
	 * @param holder the instance that held it at the last answer of the store, or
	 * {@code null} if it is not known
	 */
	record Users(List<Hold> holds, List<Waiter> waiters, @Nullable String holder) {
	}

	/**
	 * A time in which the store has answered no question about the lock.
	 *
	 * @param since when the first of these questions was asked
	 * @param cause the failure of the last one
	 */
	private record Outage(long since, RuntimeException cause) {

		/**
		 * Return for how long a waiter has borne the outage. The time in which other
		 * waiters have asked while it stood behind them counts as well.
		 */
		long borneBy(Waiter waiter, long now) {
			return Math.min(now - this.since, waiter.waited().toNanos());
		}

	}

}
