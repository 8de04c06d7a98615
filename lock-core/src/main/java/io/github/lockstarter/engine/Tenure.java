// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.OwnerToken;

/**
 * One stretch in which this JVM owns a lock in the store: how certain that is, and which
 * holds follow each other within it.
 */
final class Tenure {

	/** Low bits of a fencing token, which number the holds within a tenure. */
	private static final int HOLD_NUMBER_BITS = 12;

	private static final int MAX_HOLDS = 1 << HOLD_NUMBER_BITS;

	private final LockKey key;

	private final OwnerToken owner;

	private final long fencingBase;

	private final Timetable timetable;

	private final Slice slice;

	private final Certainty certainty;

	private final AtomicReference<Timetable.@Nullable Entry> alarm = new AtomicReference<>();

	private volatile Duration leaseTime;

	private volatile boolean renewing;

	private volatile boolean wanted;

	private volatile @Nullable Hold hold;

	/** Guarded by the lock. */
	private int holds;

	/**
	 * Begin a tenure.
	 * @param grant the answer of the store
	 * @param leaseTime length of the lease that was granted
	 * @param sentAt when the request that was granted was sent
	 * @param timeSlice how long it may go on while another JVM waits, in nanoseconds
	 */
	Tenure(LockKey key, OwnerToken owner, LockGrant grant, Duration leaseTime, long sentAt, long timeSlice,
			Timetable timetable) {
		this.key = key;
		this.owner = owner;
		this.fencingBase = grant.fencingBase();
		this.timetable = timetable;
		this.slice = new Slice(timetable.now(), timeSlice, grant.awaited());
		this.leaseTime = leaseTime;
		this.certainty = new Certainty(sentAt, leaseTime);
	}

	LockKey key() {
		return this.key;
	}

	OwnerToken owner() {
		return this.owner;
	}

	/**
	 * Return the time for which the tenure may be handed on.
	 */
	Slice slice() {
		return this.slice;
	}

	/**
	 * Return the slot of the watchdog's next action for this tenure.
	 */
	AtomicReference<Timetable.@Nullable Entry> alarm() {
		return this.alarm;
	}

	long now() {
		return this.timetable.now();
	}

	/**
	 * Return the longest lease time of the current holds, which a renewal asks for.
	 */
	Duration leaseTime() {
		return this.leaseTime;
	}

	/**
	 * Return until when the store is certain to keep the lock, and how that ended.
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
	 * Return whether the lease is certain to last at this moment.
	 */
	boolean isHeld() {
		return isHeld(now());
	}

	boolean isHeld(long now) {
		return this.certainty.isHeld(now);
	}

	/**
	 * Return whether several may hold the lock at a time.
	 */
	boolean isShared() {
		return Discipline.of(this.owner.mode()) == Discipline.SHARED;
	}

	/**
	 * Return whether it can be handed on to a caller that wants the lock alone.
	 */
	boolean isFor(LockMode mode) {
		return isExclusive(this.owner.mode()) && isExclusive(mode);
	}

	private static boolean isExclusive(LockMode mode) {
		return mode == LockMode.EXCLUSIVE || mode == LockMode.WRITE;
	}

	/**
	 * Note that somebody waits to share the lock for as long as the lease is renewed.
	 */
	void setWanted() {
		this.wanted = true;
	}

	/**
	 * Return whether the current hold, or the longest of them, goes on for longer than
	 * the lease.
	 */
	boolean needsRenewal() {
		Hold hold = this.hold;
		return this.wanted || (hold != null && (!hold.isFixed() || hold.endsAt() - deadline() > 0));
	}

	/**
	 * Return the fencing token of the current hold.
	 */
	long fencingToken() {
		Hold hold = this.hold;
		return (hold != null) ? hold.fencingToken() : this.fencingBase << HOLD_NUMBER_BITS;
	}

	/**
	 * Return whether the next hold may begin without asking the store: it is certain that
	 * the lease lasts, a third of it is left, there is a fencing token for it, and no
	 * other JVM has waited for too long.
	 * @param now this moment
	 */
	boolean canBeHandedOn(long now) {
		return this.certainty.isConfirmed() && (deadline() - now) * 3 > deadline() - this.certainty.grantedAt()
				&& (this.holds < MAX_HOLDS || isShared()) && !this.slice.isOver(now);
	}

	/**
	 * Return whether it has to be asked whether another JVM waits before the next hold
	 * begins.
	 * @param now this moment
	 */
	boolean mustAsk(long now) {
		return this.slice.mustAsk(now);
	}

	/**
	 * Begin the next hold. Called under the guard of the lock.
	 * @param leaseTime how long the waiter wants to hold the lock
	 * @param now this moment
	 */
	Hold beginHold(Waiter waiter, Duration leaseTime, long now) {
		// The first one ends with the lease that it has asked for
		long end = (this.holds == 0) ? deadline() : now + leaseTime.toNanos();
		boolean first = this.holds == 0 || !isShared();
		// Readers beyond the last number share it: what counts is that later writers have
		// more
		int number = Math.min(this.holds, MAX_HOLDS - 1);
		this.holds = number + 1;
		this.wanted = false;
		Hold hold = new Hold(this, waiter.owner(), (this.fencingBase << HOLD_NUMBER_BITS) | number,
				waiter.fixedLeaseTime(), now, end);
		if (first || leaseTime.compareTo(this.leaseTime) > 0) {
			this.leaseTime = leaseTime;
		}
		if (first || outlasts(hold, this.hold)) {
			this.hold = hold;
		}
		return hold;
	}

	/**
	 * Note that a reader has left and that the others want shorter leases. Called under
	 * the guard of the lock.
	 * @param leaseTime the longest that they want
	 */
	void shorten(Duration leaseTime) {
		if (leaseTime.compareTo(this.leaseTime) < 0) {
			this.leaseTime = leaseTime;
		}
	}

	private static boolean outlasts(Hold hold, @Nullable Hold other) {
		return other == null || (other.isFixed() && (!hold.isFixed() || hold.endsAt() - other.endsAt() > 0));
	}

	/**
	 * Note that a renewal is under way, or no longer.
	 */
	void setRenewing(boolean renewing) {
		this.renewing = renewing;
	}

	boolean isRenewing() {
		return this.renewing;
	}

}
