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
 * One stretch in which this JVM owns a lock in the store: until when that is certain, who
 * holds the lock within it, and how it ended.
 *
 * <p>
 * The deadline counts on the monotonic clock from before the request was sent, shortened
 * by an allowance for clocks that run at different speeds, as in the <a href=
 * "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Redlock
 * algorithm</a>; so it passes before the lease ends in the store.
 */
final class Tenure {

	/** Low bits of a fencing token, which number the holds within a tenure. */
	private static final int HOLD_NUMBER_BITS = 12;

	private static final int MAX_HOLDS = 1 << HOLD_NUMBER_BITS;

	private final LocalLock lock;

	private final OwnerToken owner;

	private final long fencingBase;

	private final Timetable timetable;

	private final Slice slice;

	private final AtomicReference<Timetable.@Nullable Entry> alarm = new AtomicReference<>();

	private final TenureState state = new TenureState();

	private volatile Duration leaseTime;

	private volatile long grantedAt;

	private volatile long confirmedAt;

	/** When the last request has lost its effect that could extend the lease. */
	private volatile long claimedUntil;

	private volatile long deadline;

	private volatile boolean renewing;

	private volatile boolean wanted;

	private volatile @Nullable Hold hold;

	/** Guarded by the lock. */
	private int holds;

	private volatile @Nullable String lossReason;

	private volatile @Nullable Long uncertainUntil;

	/**
	 * Begin a tenure.
	 * @param grant the answer of the store
	 * @param leaseTime length of the lease that was granted
	 * @param sentAt when the request that was granted was sent
	 * @param timeSlice how long it may go on while another JVM waits, in nanoseconds
	 */
	Tenure(LocalLock lock, OwnerToken owner, LockGrant grant, Duration leaseTime, long sentAt, long timeSlice,
			Timetable timetable) {
		this.lock = lock;
		this.owner = owner;
		this.fencingBase = grant.fencingBase();
		this.timetable = timetable;
		this.slice = new Slice(timetable.now(), timeSlice, grant.awaited());
		this.leaseTime = leaseTime;
		claim(sentAt, leaseTime);
		extend(sentAt, leaseTime);
	}

	LocalLock lock() {
		return this.lock;
	}

	LockKey key() {
		return this.lock.key();
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

	long grantedAt() {
		return this.grantedAt;
	}

	/**
	 * Return when the store was last asked that has confirmed the lease.
	 */
	long confirmedAt() {
		return this.confirmedAt;
	}

	/**
	 * Note that a request is being sent which extends the lease.
	 */
	void claim(long sentAt, Duration leaseTime) {
		this.claimedUntil = sentAt + leaseTime.toNanos();
	}

	/**
	 * Return until when the store may know the owner because of what was sent so far.
	 */
	long claimedUntil() {
		Long uncertain = this.uncertainUntil;
		long claimed = this.claimedUntil;
		return (uncertain != null && uncertain - claimed > 0) ? uncertain : claimed;
	}

	long deadline() {
		return this.deadline;
	}

	long remainingNanos() {
		return this.deadline - now();
	}

	/**
	 * Return whether the lease is certain to last at this moment.
	 */
	boolean isHeld() {
		return isHeld(now());
	}

	boolean isHeld(long now) {
		return !isOver() && this.deadline - now > 0;
	}

	/**
	 * Return whether the tenure was ended, by release or loss.
	 */
	boolean isOver() {
		return this.state.isOver();
	}

	boolean isLost() {
		return this.state.isLost();
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
		return this.wanted || (hold != null && (!hold.isFixed() || hold.endsAt() - this.deadline > 0));
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
		return this.state.isCertain() && (this.deadline - now) * 3 > this.deadline - this.grantedAt
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
		long end = (this.holds == 0) ? this.deadline : now + leaseTime.toNanos();
		boolean first = this.holds == 0 || !isShared();
		// Readers beyond the last number share it: what counts is that later writers have
		// more
		int number = Math.min(this.holds, MAX_HOLDS - 1);
		this.holds = number + 1;
		this.wanted = false;
		Hold hold = new Hold(this.lock, this, waiter.owner(), (this.fencingBase << HOLD_NUMBER_BITS) | number,
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

	/**
	 * Note a successful renewal.
	 * @param sentAt when its request was sent
	 * @param leaseTime the lease time it asked for
	 * @return whether it ended a suspicion
	 */
	boolean renewed(long sentAt, Duration leaseTime) {
		extend(sentAt, leaseTime);
		return this.state.recover();
	}

	/**
	 * Note that the store knows the owner, without a longer lease.
	 * @param sentAt when it was asked
	 * @return whether that ended a suspicion
	 */
	boolean confirmed(long sentAt) {
		this.confirmedAt = sentAt;
		return this.state.recover();
	}

	/**
	 * Note a failed renewal.
	 * @return whether it is the first in a row
	 */
	boolean suspect() {
		return this.state.suspect();
	}

	/**
	 * End the tenure to give it back.
	 * @return false if it was over before
	 */
	boolean release() {
		return this.state.release();
	}

	/**
	 * End the tenure as lost.
	 * @param reason how, or {@code null} if its deadline has passed
	 * @return false if it was over before
	 */
	boolean lose(@Nullable String reason) {
		this.lossReason = reason;
		return this.state.lose();
	}

	@Nullable String lossReason() {
		return isLost() ? this.lossReason : null;
	}

	/**
	 * Note that requests for this tenure may still be on their way, and could take the
	 * lock again after its release.
	 * @param until when the last of them has lost its effect
	 */
	void uncertainUntil(long until) {
		this.uncertainUntil = until;
	}

	/**
	 * Return until when such requests may be on their way, or {@code null} if there are
	 * none.
	 */
	@Nullable Long uncertainUntil() {
		return this.uncertainUntil;
	}

	private void extend(long sentAt, Duration granted) {
		long lease = granted.toNanos();
		long drift = Math.min(lease / 100 + 2_000_000, lease / 4);
		this.grantedAt = sentAt;
		this.confirmedAt = sentAt;
		this.deadline = sentAt + lease - drift;
	}

}
