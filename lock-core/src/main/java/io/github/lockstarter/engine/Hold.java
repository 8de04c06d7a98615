// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;

/**
 * One local grant of a lock within a tenure: whose it is, how often it was entered, and
 * how it ended.
 */
final class Hold implements Outcome {

	private final Tenure tenure;

	private final Object owner;

	private final long fencingToken;

	private final @Nullable Duration fixedLeaseTime;

	private final long endsAt;

	private final long since;

	private volatile State state = State.HELD;

	private volatile @Nullable String lossReason;

	private volatile Timetable.@Nullable Entry alarm;

	private volatile long shortest;

	/** Levels that were entered through a lock; changed by the owning thread only. */
	private volatile int locked;

	/** Guarded by the lock. */
	private int count = 1;

	private volatile boolean kept;

	/** Guarded by this. */
	private @Nullable LossCallbacks lossCallbacks;

	/** Used by the owning thread only. */
	private @Nullable Deque<LockedLease> lockedLeases;

	/**
	 * Create a hold.
	 * @param fixedLeaseTime how long it may last, or {@code null} for as long as its
	 * tenure
	 * @param since when it begins, on the clock of the tenure
	 * @param endsAt when its time is over
	 */
	Hold(Tenure tenure, Object owner, long fencingToken, @Nullable Duration fixedLeaseTime, long since, long endsAt) {
		this.tenure = tenure;
		this.owner = owner;
		this.fencingToken = fencingToken;
		this.fixedLeaseTime = fixedLeaseTime;
		this.since = since;
		this.endsAt = endsAt;
	}

	LockKey key() {
		return this.tenure.key();
	}

	Tenure tenure() {
		return this.tenure;
	}

	long fencingToken() {
		return this.fencingToken;
	}

	boolean isFixed() {
		return this.fixedLeaseTime != null;
	}

	/**
	 * Return the length of the lease that its owner wants.
	 * @param otherwise what it is if the owner does not say
	 */
	Duration leaseTime(Duration otherwise) {
		return (this.fixedLeaseTime != null) ? this.fixedLeaseTime : otherwise;
	}

	long endsAt() {
		return this.endsAt;
	}

	Duration duration() {
		return Duration.ofNanos(this.tenure.now() - this.since);
	}

	/**
	 * Let the lock stay taken for this long after the begin of the hold.
	 */
	void holdAtLeast(Duration time) {
		this.shortest = time.toNanos();
	}

	/**
	 * Return until when the lock has to stay taken, on the clock of the tenure.
	 */
	long keptUntil() {
		return this.since + this.shortest;
	}

	/**
	 * Note that the lock stays taken after the hold.
	 */
	void setKept() {
		this.kept = true;
	}

	boolean isKept() {
		return this.kept;
	}

	/**
	 * Return whether it has ended without a loss.
	 */
	boolean isReleased() {
		return this.state == State.RELEASED;
	}

	/**
	 * Return whether it may end before its tenure does.
	 */
	boolean needsLimit() {
		return isFixed() && (this.tenure.isShared() || this.endsAt != this.tenure.deadline());
	}

	/**
	 * Remember what ends this hold.
	 */
	void setAlarm(Timetable.Entry alarm) {
		this.alarm = alarm;
	}

	Timetable.@Nullable Entry alarm() {
		return this.alarm;
	}

	Object owner() {
		return this.owner;
	}

	boolean belongsTo(Object owner) {
		return this.owner.equals(owner);
	}

	/**
	 * Return whether its owner has by it what it would ask for anew.
	 */
	boolean covers(LockMode mode) {
		return mode == LockMode.READ || !this.tenure.isShared();
	}

	/**
	 * Return whether the lock is certain to be held at this moment.
	 */
	boolean isHeld() {
		return isHeld(this.tenure.now());
	}

	private boolean isHeld(long now) {
		return this.state == State.HELD && this.tenure.isHeld(now) && (!isFixed() || this.endsAt - now > 0);
	}

	boolean isLost() {
		return this.state == State.LOST;
	}

	/**
	 * Return whether it may be that nobody ever leaves it: a fixed lease time is often
	 * meant to end by itself. A thread that has locked a
	 * {@link java.util.concurrent.locks.Lock} unlocks it.
	 */
	boolean mayBeAbandoned() {
		return isFixed() && this.locked == 0;
	}

	long remainingNanos() {
		long remaining = this.tenure.remainingNanos();
		return isFixed() ? Math.min(remaining, this.endsAt - this.tenure.now()) : remaining;
	}

	Hold enter() {
		this.count++;
		return this;
	}

	/**
	 * Leave one level.
	 * @return whether it was the last one
	 */
	boolean leave() {
		return --this.count == 0;
	}

	/**
	 * End the hold: as released if it has lasted until now, else as lost.
	 * @param now this moment
	 */
	synchronized void end(long now) {
		this.state = isHeld(now) ? State.RELEASED : State.LOST;
	}

	/**
	 * End the hold as lost, even if it seemed to be released.
	 * @param reason how, or {@code null} if its time was over
	 * @return false if that was known before
	 */
	synchronized boolean lose(@Nullable String reason) {
		if (isLost()) {
			return false;
		}
		this.lossReason = reason;
		this.state = State.LOST;
		return true;
	}

	/**
	 * Return a new exception that tells of the loss.
	 */
	LockLostException loss() {
		return new LockLostException(key(), this.fencingToken, lossReason());
	}

	/**
	 * Return how the lock was lost; by the end of its time if nothing else is known.
	 */
	String lossReason() {
		String reason = (this.lossReason != null) ? this.lossReason : this.tenure.certainty().lossReason();
		if (reason != null) {
			return reason;
		}
		return (this.fixedLeaseTime == null) ? "its lease ran out before it could be renewed"
				: "its lease time of " + this.fixedLeaseTime.toMillis() + " ms ran out before it was given back";
	}

	/**
	 * Keep a callback for the loss.
	 * @param lease whose callback it is
	 * @return false if the lock is lost already and the callback has to be called at once
	 */
	synchronized boolean onLost(Object lease, Consumer<LockLostException> callback) {
		if (isLost()) {
			return false;
		}
		if (this.lossCallbacks == null) {
			this.lossCallbacks = new LossCallbacks();
		}
		this.lossCallbacks.add(lease, callback);
		return true;
	}

	/**
	 * Forget the callbacks of a lease that is closed.
	 */
	synchronized void forgetCallbacks(Object lease) {
		if (this.lossCallbacks != null) {
			this.lossCallbacks.forget(lease);
		}
	}

	/**
	 * Return the callbacks, to be called after the loss.
	 */
	synchronized List<Consumer<LockLostException>> lossCallbacks() {
		return (this.lossCallbacks != null) ? this.lossCallbacks.all() : List.of();
	}

	/**
	 * Remember a lease that the owning thread took through
	 * {@link java.util.concurrent.locks.Lock}, which has no handle to remember it by.
	 */
	void pushLocked(LockMode mode, Lease lease) {
		if (this.lockedLeases == null) {
			this.lockedLeases = new ArrayDeque<>(1);
		}
		this.lockedLeases.push(new LockedLease(mode, lease));
		this.locked = this.lockedLeases.size();
	}

	/**
	 * Return the last such lease of a mode, once.
	 */
	@Nullable Lease popLocked(LockMode mode) {
		if (this.lockedLeases != null) {
			for (Iterator<LockedLease> leases = this.lockedLeases.iterator(); leases.hasNext();) {
				LockedLease next = leases.next();
				if (next.mode() == mode) {
					leases.remove();
					this.locked = this.lockedLeases.size();
					return next.lease();
				}
			}
		}
		return null;
	}

	private record LockedLease(LockMode mode, Lease lease) {
	}

	private enum State {

		HELD, RELEASED, LOST

	}

}
