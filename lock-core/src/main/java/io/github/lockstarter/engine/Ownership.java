// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;

/**
 * One stretch in which this JVM owns a lock in the store, for one or several holds: until
 * when that is certain, how it ended, and for how long the lock may be handed on. It ends
 * once; the first cause counts. It is changed under its own monitor, because answers to
 * renewals must not wait for the guard of a lock.
 *
 * <p>
 * The deadline counts on the monotonic clock from before the request was sent. It is
 * shortened by an allowance for clocks that run at different speeds, as in the <a href=
 * "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Redlock
 * algorithm</a>, so it passes before the lease expires in the store.
 */
final class Ownership {

	private static final int HOLD_NUMBER_BITS = AcquireResult.Grant.HOLD_NUMBER_BITS;

	private static final int MAX_HOLDS = 1 << HOLD_NUMBER_BITS;

	/**
	 * A lease counts for a hundredth and two milliseconds less than was requested.
	 */
	private static final long LEAST_DRIFT = TimeUnit.MILLISECONDS.toNanos(2);

	/** Needs no object for each ownership, of which there may be many. */
	private static final AtomicReferenceFieldUpdater<Ownership, Timetable.@Nullable Entry> ALARM = AtomicReferenceFieldUpdater
		.newUpdater(Ownership.class, Timetable.Entry.class, "alarm");

	private final LockKey key;

	private final OwnerToken owner;

	private final long fencingBase;

	private final Timetable timetable;

	private final Duration leaseTime;

	private final long handOffUntil;

	private volatile Timetable.@Nullable Entry alarm;

	private volatile boolean renewing;

	private volatile @Nullable Hold hold;

	private volatile State state = State.HELD;

	private volatile long grantedAt;

	private volatile long confirmedAt;

	private volatile long claimedUntil;

	private volatile long deadline;

	private volatile @Nullable String lossReason;

	private volatile @Nullable Long uncertainUntil;

	/** How often the lease was extended since the grant. Guarded by this. */
	private int renewals;

	/** Whether the release has been answered. Guarded by this. */
	private boolean answered;

	/** Whether a renewal was sent after the end. Guarded by this. */
	private boolean overtaken;

	/** How many holds have begun. Guarded by the lock. */
	private int holds;

	/** How many holds have not ended. Guarded by the lock. */
	private int current;

	/**
	 * Begin an ownership.
	 * @param grant the answer of the store
	 * @param leaseTime length of the lease that was requested
	 * @param longestLease the longest time for which the grant counts
	 * @param sentAt when the granted request was sent
	 * @param slice for how long the lock may be handed on, in nanoseconds
	 */
	Ownership(LockKey key, OwnerToken owner, AcquireResult.Grant grant, Duration leaseTime, Duration longestLease,
			long sentAt, long slice, Timetable timetable) {
		this.key = key;
		this.owner = owner;
		this.fencingBase = grant.fencingBase();
		this.timetable = timetable;
		this.leaseTime = leaseTime;
		this.handOffUntil = timetable.now() + slice;
		this.claimedUntil = sentAt;
		claim(sentAt, leaseTime);
		extend(sentAt, leaseTime, longestLease);
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
	 * Replace the watchdog's next action for this ownership.
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

	long remainingNanos() {
		return deadline() - now();
	}

	/**
	 * Return whether the lease certainly lasts at this moment.
	 */
	boolean isHeld() {
		return isHeld(now());
	}

	/**
	 * Return whether several owners may hold the lock at a time.
	 */
	boolean isShared() {
		return this.owner.mode() == LockMode.READ;
	}

	/**
	 * Return whether a current hold may last longer than the lease.
	 */
	boolean needsRenewal() {
		Hold hold = this.hold;
		return hold != null && outlasts(hold);
	}

	/**
	 * Return a hold of the ownership: of several readers the one that ends last, and
	 * between two holds the one before; {@code null} before the first one.
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
		return isConfirmed() && (deadline() - now) * 3 > deadline() - grantedAt()
				&& (this.holds < MAX_HOLDS || isShared()) && now - this.handOffUntil < 0;
	}

	/**
	 * Return whether a waiter may have the next hold at all.
	 */
	boolean suits(Waiter waiter) {
		return waiter.suits(this.owner.mode(), this.leaseTime);
	}

	/**
	 * Begin the next hold. Called under the guard of the lock.
	 * @param now the current time
	 */
	Hold beginHold(Waiter waiter, long now) {
		Duration leaseTime = waiter.leaseTime();
		Duration longest = waiter.holdAtMost();
		Duration length = (longest != null) ? longest : leaseTime;
		// The first hold ends with the lease that was requested for it, unless that is
		// renewed
		long end = (this.holds == 0 && length.equals(leaseTime)) ? endOf(leaseTime) : now + length.toNanos();
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

	/**
	 * Return the send time of the request that was granted, or of the last one that
	 * extended the lease.
	 */
	long grantedAt() {
		return this.grantedAt;
	}

	/**
	 * Return the send time of the last request that confirmed the lease.
	 */
	long confirmedAt() {
		return this.confirmedAt;
	}

	/**
	 * Return until when the lease is certain to last.
	 */
	long deadline() {
		return this.deadline;
	}

	/**
	 * Note that a request to extend the lease is being sent. It may never arrive, so the
	 * latest end of all requests counts.
	 */
	void claim(long sentAt, Duration leaseTime) {
		long until = sentAt + leaseTime.toNanos();
		if (until - this.claimedUntil > 0) {
			this.claimedUntil = until;
		}
	}

	/**
	 * Return until when the store may know the owner, because of all requests so far.
	 */
	long claimedUntil() {
		Long uncertain = this.uncertainUntil;
		long claimed = this.claimedUntil;
		return (uncertain != null && uncertain - claimed > 0) ? uncertain : claimed;
	}

	/**
	 * Note that requests under way may still acquire the lock again after its release.
	 * @param until when the last of them has lost its effect
	 */
	void uncertainUntil(long until) {
		this.uncertainUntil = until;
	}

	/**
	 * Return until when such requests may take effect, or {@code null} if there are none.
	 */
	@Nullable Long uncertainUntil() {
		return this.uncertainUntil;
	}

	/**
	 * Note that a renewal was sent after the end, which may reach the store after the
	 * release.
	 * @return whether the lock has to be released again now; otherwise it is released
	 * again when the release has been answered, which would report a loss if another
	 * release came first. A lock that is kept has no release: to keep it, the store must
	 * still know its owner
	 */
	synchronized boolean overtaken() {
		this.overtaken = true;
		return this.answered || isLost();
	}

	/**
	 * Note that the release has been answered, or has failed.
	 * @return whether the lock has to be released again
	 */
	synchronized boolean answered() {
		this.answered = true;
		return this.overtaken;
	}

	/**
	 * Return whether the last request was granted, and no release or loss has come since.
	 */
	boolean isConfirmed() {
		return this.state == State.HELD;
	}

	/**
	 * Return whether the last request failed, and the lease may still last.
	 */
	boolean isSuspect() {
		return this.state == State.SUSPECT;
	}

	boolean isHeld(long now) {
		return !isOver() && this.deadline - now > 0;
	}

	/**
	 * Return whether the lock was released, kept or lost.
	 */
	boolean isOver() {
		return this.state != State.HELD && this.state != State.SUSPECT;
	}

	boolean isLost() {
		return this.state == State.LOST;
	}

	/**
	 * Return the reason of the loss, or {@code null} if the deadline has passed.
	 */
	@Nullable String lossReason() {
		return isLost() ? this.lossReason : null;
	}

	/**
	 * Note a successful renewal.
	 * @param sentAt when its request was sent
	 * @param leaseTime the requested lease time
	 * @param longestLease the longest time for which the renewal counts
	 * @return whether it ended a suspicion
	 */
	synchronized boolean renewed(long sentAt, Duration leaseTime, Duration longestLease) {
		extend(sentAt, leaseTime, longestLease);
		this.renewals++;
		return change(State.SUSPECT, State.HELD);
	}

	/**
	 * Return how often the lease was extended since the grant.
	 */
	synchronized int renewals() {
		return this.renewals;
	}

	/**
	 * Note that the store knows the owner, without an extension of the lease.
	 * @param sentAt when the store was asked
	 * @return whether that ended a suspicion
	 */
	boolean confirmed(long sentAt) {
		this.confirmedAt = sentAt;
		return change(State.SUSPECT, State.HELD);
	}

	/**
	 * Note a failed renewal.
	 * @return whether it is the first in a row
	 */
	boolean suspect() {
		return change(State.HELD, State.SUSPECT);
	}

	/**
	 * End it by a release.
	 * @return {@code false} if it was already over
	 */
	boolean release() {
		return end(State.RELEASED);
	}

	/**
	 * End it because the store keeps the lock for its owner from now on.
	 * @return {@code false} if it was already over
	 */
	boolean keep() {
		return end(State.KEPT);
	}

	private synchronized boolean end(State end) {
		if (isOver()) {
			return false;
		}
		this.state = end;
		return true;
	}

	/**
	 * End it by a loss.
	 * @param reason the reason, or {@code null} if the deadline has passed
	 * @return {@code false} if it was already over
	 */
	synchronized boolean lose(@Nullable String reason) {
		if (isOver()) {
			return false;
		}
		this.lossReason = reason;
		this.state = State.LOST;
		return true;
	}

	private void extend(long sentAt, Duration leaseTime, Duration longestLease) {
		this.grantedAt = sentAt;
		this.confirmedAt = sentAt;
		this.deadline = endOf((leaseTime.compareTo(longestLease) < 0) ? leaseTime : longestLease);
	}

	/**
	 * Return when a lease of some length ends that began with the last extension.
	 */
	private long endOf(Duration leaseTime) {
		long lease = leaseTime.toNanos();
		return this.grantedAt + lease - Math.min(lease / 100 + LEAST_DRIFT, lease / 4);
	}

	/**
	 * Return the lease to request with the next renewal: as much of its lease time as the
	 * last hold needs, in whole milliseconds, or zero if the lease lasts long enough. It
	 * never ends before the deadline, because the store would end the lease with it.
	 */
	Duration neededLease(long now) {
		Hold last = this.hold;
		if (last == null || !outlasts(last)) {
			return Duration.ZERO;
		}
		long nanos = Math.max(last.endsAt() - now, 0) + LEAST_DRIFT;
		if (!last.isLimited() || nanos >= this.leaseTime.toNanos()) {
			return this.leaseTime;
		}
		Duration needed = Duration.ofMillis(TimeUnit.NANOSECONDS.toMillis(nanos + nanos / 99) + 1);
		return (needed.compareTo(this.leaseTime) < 0) ? needed : this.leaseTime;
	}

	private boolean outlasts(Hold hold) {
		return !hold.isLimited() || hold.endsAt() - this.deadline > 0;
	}

	private synchronized boolean change(State from, State to) {
		if (this.state != from) {
			return false;
		}
		this.state = to;
		return true;
	}

	private enum State {

		/** Granted, and renewed in time. */
		HELD,

		/** The last renewal failed, but the lease has not expired yet. */
		SUSPECT,

		/** Lost before its release. */
		LOST,

		/** Released by its owner. */
		RELEASED,

		/** Kept by the store, which releases it at a fixed time. */
		KEPT

	}

}
