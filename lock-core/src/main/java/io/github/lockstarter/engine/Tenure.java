// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockAttempt;
import io.github.lockstarter.store.OwnerToken;

/**
 * One stretch in which this JVM owns a lock in the store: how certain that is, and the
 * holds within it.
 */
final class Tenure {

	private static final int HOLD_NUMBER_BITS = LockAttempt.Grant.HOLD_NUMBER_BITS;

	private static final int MAX_HOLDS = 1 << HOLD_NUMBER_BITS;

	/** Of these, a release and a new request take a tenth. */
	private static final int ROUND_TRIPS = 20;

	/** Needs no object for each tenure, of which there may be many. */
	private static final AtomicReferenceFieldUpdater<Tenure, Timetable.@Nullable Entry> ALARM = AtomicReferenceFieldUpdater
		.newUpdater(Tenure.class, Timetable.Entry.class, "alarm");

	private final LockKey key;

	private final OwnerToken owner;

	private final long fencingBase;

	private final Timetable timetable;

	private final Duration leaseTime;

	private final long handOffUntil;

	private final Certainty certainty;

	private volatile Timetable.@Nullable Entry alarm;

	private volatile boolean renewing;

	private volatile @Nullable Hold hold;

	/** How many holds have begun. Guarded by the lock. */
	private int holds;

	/** How many holds have not ended. Guarded by the lock. */
	private int current;

	/**
	 * Begin a tenure.
	 * @param grant the answer of the store
	 * @param leaseTime length of the lease that was requested
	 * @param longestLease the longest time for which the grant counts
	 * @param sentAt when the granted request was sent
	 * @param timeSlice for how long the lock may be handed on, in nanoseconds; longer if
	 * the store is far away, because a release and a new request would cost too much of
	 * the time
	 */
	Tenure(LockKey key, OwnerToken owner, LockAttempt.Grant grant, Duration leaseTime, Duration longestLease,
			long sentAt, long timeSlice, Timetable timetable) {
		this.key = key;
		this.owner = owner;
		this.fencingBase = grant.fencingBase();
		this.timetable = timetable;
		this.leaseTime = leaseTime;
		long now = timetable.now();
		this.handOffUntil = now + Math.max(timeSlice, ROUND_TRIPS * (now - sentAt));
		this.certainty = new Certainty(sentAt, leaseTime, longestLease);
	}

	LockKey key() {
		return this.key;
	}

	OwnerToken owner() {
		return this.owner;
	}

	Timetable.@Nullable Entry alarm() {
		return this.alarm;
	}

	/**
	 * Replace the watchdog's next action for this tenure.
	 * @return the previous one, or {@code null} if there was none
	 */
	Timetable.@Nullable Entry setAlarm(Timetable.@Nullable Entry next) {
		return ALARM.getAndSet(this, next);
	}

	long now() {
		return this.timetable.now();
	}

	/**
	 * Return the lease time of all its holds.
	 */
	Duration leaseTime() {
		return this.leaseTime;
	}

	/**
	 * Return until when this JVM certainly owns the lock, and how that ended.
	 */
	Certainty certainty() {
		return this.certainty;
	}

	long deadline() {
		return this.certainty.deadline();
	}

	long remainingNanos() {
		return deadline() - now();
	}

	/**
	 * Return whether the lease certainly lasts at this moment.
	 */
	boolean isHeld() {
		return isHeld(now());
	}

	boolean isHeld(long now) {
		return this.certainty.isHeld(now);
	}

	Discipline discipline() {
		return Discipline.of(this.owner.mode());
	}

	/**
	 * Return whether several owners may hold the lock at a time.
	 */
	boolean isShared() {
		return discipline() == Discipline.SHARED;
	}

	/**
	 * Return whether a current hold may last longer than the lease.
	 */
	boolean needsRenewal() {
		Hold hold = this.hold;
		return hold != null && (!hold.isLimited() || hold.endsAt() - deadline() > 0);
	}

	/**
	 * Return a hold of the tenure: of several readers the one that ends last, and between
	 * two holds the one before; {@code null} before the first one.
	 */
	@Nullable Hold hold() {
		return this.hold;
	}

	/**
	 * Return the fencing token of the current hold.
	 */
	long fencingToken() {
		Hold hold = this.hold;
		return (hold != null) ? hold.fencingToken() : this.fencingBase << HOLD_NUMBER_BITS;
	}

	/**
	 * Return whether the next hold may begin without asking the store: the lease
	 * certainly lasts, a third of it is left, a fencing token is available, and the time
	 * for hand-offs is not over. Every chain of hand-offs ends then, so that other JVMs
	 * get their turn whether or not this JVM knows of them.
	 * @param now the current time
	 */
	boolean canBeHandedOn(long now) {
		return this.certainty.isConfirmed() && (deadline() - now) * 3 > deadline() - this.certainty.grantedAt()
				&& (this.holds < MAX_HOLDS || isShared()) && now - this.handOffUntil < 0;
	}

	/**
	 * Return whether a waiter may have the next hold at all. With one lease time for all
	 * holds, a renewal never shortens the lease in the store.
	 * @param leaseTime the lease time of the waiter
	 */
	boolean suits(Waiter waiter, Duration leaseTime) {
		return waiter.discipline() == discipline() && !discipline().standsInLineItself()
				&& leaseTime.equals(this.leaseTime);
	}

	/**
	 * Begin the next hold. Called under the guard of the lock.
	 * @param leaseTime the lease time of the waiter
	 * @param now the current time
	 */
	Hold beginHold(Waiter waiter, Duration leaseTime, long now) {
		Duration longest = waiter.holdAtMost();
		Duration length = (longest != null) ? longest : leaseTime;
		// The first hold ends with the lease that was requested for it, unless that is
		// renewed
		long end = (this.holds == 0 && length.equals(leaseTime)) ? this.certainty.endOf(leaseTime)
				: now + length.toNanos();
		boolean first = this.holds == 0 || !isShared();
		// Further readers share the last number: only later writers must have a larger
		// one
		int number = Math.min(this.holds, MAX_HOLDS - 1);
		this.holds = number + 1;
		this.current++;
		Hold hold = new Hold(this, waiter.owner(), (this.fencingBase << HOLD_NUMBER_BITS) | number,
				waiter.fixedLeaseTime(), longest, waiter.hasBody(), now, end);
		if (first || outlasts(hold, this.hold)) {
			this.hold = hold;
		}
		return hold;
	}

	/**
	 * Note that a hold has ended. Called under the guard of the lock.
	 * @return whether it was the last one of those that have begun
	 */
	boolean endHold() {
		return --this.current == 0;
	}

	private static boolean outlasts(Hold hold, @Nullable Hold other) {
		return other == null || (other.isLimited() && (!hold.isLimited() || hold.endsAt() - other.endsAt() > 0));
	}

	/**
	 * Note whether a renewal is under way.
	 */
	void setRenewing(boolean renewing) {
		this.renewing = renewing;
	}

	boolean isRenewing() {
		return this.renewing;
	}

}
