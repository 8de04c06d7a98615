// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;

/**
 * One grant of a lock within a tenure: its owner, its levels, and how it ended.
 */
final class Hold implements Outcome {

	private final Tenure tenure;

	private final Object owner;

	private final long fencingToken;

	private final @Nullable Duration fixedLeaseTime;

	private final @Nullable Duration holdAtMost;

	private final long endsAt;

	private final long since;

	private final HoldEnding ending = new HoldEnding();

	/** Created on demand: a hold has none unless its thread uses a {@code Lock}. */
	private volatile Timetable.@Nullable Entry alarm;

	private volatile long shortest;

	private volatile boolean bodyRunning;

	/** Guarded by the lock. */
	private int count = 1;

	/** Guarded by the lock. */
	private int warnings;

	/**
	 * Create a hold.
	 * @param fixedLeaseTime the fixed lease time, or {@code null} if the lease is renewed
	 * @param holdAtMost for how long it is renewed, or {@code null} if the hold lasts as
	 * long as its tenure
	 * @param body whether it guards a body
	 * @param since when the hold begins, on the clock of the tenure
	 * @param endsAt when it is over, if it is limited
	 */
	Hold(Tenure tenure, Object owner, long fencingToken, @Nullable Duration fixedLeaseTime,
			@Nullable Duration holdAtMost, boolean body, long since, long endsAt) {
		this.tenure = tenure;
		this.owner = owner;
		this.fencingToken = fencingToken;
		this.fixedLeaseTime = fixedLeaseTime;
		this.holdAtMost = holdAtMost;
		this.bodyRunning = body;
		this.since = since;
		this.endsAt = endsAt;
	}

	LockKey key() {
		return this.tenure.key();
	}

	LockMode mode() {
		return this.tenure.owner().mode();
	}

	Tenure tenure() {
		return this.tenure;
	}

	long fencingToken() {
		return this.fencingToken;
	}

	/**
	 * Return whether the hold ends by itself, at the latest, by its fixed lease time or
	 * its longest time.
	 */
	boolean isLimited() {
		return this.fixedLeaseTime != null || this.holdAtMost != null;
	}

	long endsAt() {
		return this.endsAt;
	}

	Duration duration() {
		return Duration.ofNanos(this.tenure.now() - this.since);
	}

	/**
	 * Keep the lock for at least this long after the beginning of the hold.
	 */
	void holdAtLeast(Duration time) {
		this.shortest = time.toNanos();
	}

	/**
	 * Return until when the lock must be kept, on the clock of the tenure.
	 */
	long keptUntil() {
		return this.since + this.shortest;
	}

	/**
	 * Return whether the lock is kept after the hold.
	 */
	boolean isKept() {
		return this.ending.isKept();
	}

	/**
	 * Return whether the hold may end before its tenure does.
	 */
	boolean needsLimit() {
		return isLimited() && (this.tenure.isShared() || this.endsAt != this.tenure.deadline());
	}

	/**
	 * Remember the alarm that ends this hold.
	 */
	void setAlarm(Timetable.Entry alarm) {
		this.alarm = alarm;
	}

	Timetable.@Nullable Entry alarm() {
		return this.alarm;
	}

	HoldEnding ending() {
		return this.ending;
	}

	Object owner() {
		return this.owner;
	}

	/**
	 * Return whether this hold already grants the given mode.
	 */
	boolean covers(LockMode mode) {
		return mode == LockMode.READ || !this.tenure.isShared();
	}

	/**
	 * Return whether the lock is certainly held at this moment.
	 */
	boolean isHeld() {
		return isHeld(this.tenure.now());
	}

	private boolean isHeld(long now) {
		return !this.ending.isOver() && this.tenure.isHeld(now) && (!isLimited() || this.endsAt - now > 0);
	}

	boolean isLost() {
		return this.ending.isLost();
	}

	/**
	 * Return whether the hold may never be exited, because a lease that ends by itself
	 * need not be closed. That of a body is closed when the body ends.
	 */
	boolean mayBeAbandoned() {
		return isLimited() && !this.bodyRunning;
	}

	/**
	 * Return whether the hold guards a body that has not ended.
	 */
	boolean isBodyRunning() {
		return this.bodyRunning;
	}

	void bodyEnded() {
		this.bodyRunning = false;
	}

	long remainingNanos() {
		long remaining = this.tenure.remainingNanos();
		return isLimited() ? Math.min(remaining, this.endsAt - this.tenure.now()) : remaining;
	}

	Hold enter() {
		this.count++;
		return this;
	}

	/**
	 * Exit one level.
	 * @return whether it was the last one
	 */
	boolean leave() {
		return --this.count == 0;
	}

	/**
	 * Return whether a warning is due that was not due at the last call.
	 * @param due how many are due since the beginning of the hold
	 */
	boolean isWarningDue(int due) {
		boolean more = due > this.warnings;
		this.warnings = due;
		return more;
	}

	/**
	 * End the hold: as kept or released if it has lasted until now, otherwise as lost.
	 * @param now the current time
	 */
	void end(long now) {
		this.ending.end(isHeld(now), keptUntil() - now > 0);
	}

	/**
	 * End the hold as lost, even if it seemed to be released.
	 * @param reason the reason, or {@code null} if its lease time was over
	 * @return {@code false} if the loss was already known
	 */
	boolean lose(@Nullable String reason) {
		return this.ending.lose(reason);
	}

	/**
	 * Return a new exception for the loss.
	 */
	LockLostException loss() {
		return new LockLostException(key(), this.fencingToken, lossReason());
	}

	/**
	 * Return the reason of the loss; the end of the lease time if no other one is known.
	 */
	String lossReason() {
		String reason = knownReason();
		if (reason != null) {
			return reason;
		}
		if (this.fixedLeaseTime != null) {
			return "its lease time of " + this.fixedLeaseTime.toMillis() + " ms expired before the lock was released";
		}
		return (this.holdAtMost != null && hasReachedHoldAtMost())
				? "it was not released within its 'holdAtMost' of " + this.holdAtMost.toMillis() + " ms"
				: "its lease expired before it could be renewed";
	}

	/**
	 * Return whether a hold that is lost was lost because its owner held it for too long.
	 */
	boolean hasReachedHoldAtMost() {
		return this.holdAtMost != null && knownReason() == null && this.tenure.deadline() - this.endsAt >= 0;
	}

	private @Nullable String knownReason() {
		return (this.ending.lossReason() != null) ? this.ending.lossReason() : this.tenure.certainty().lossReason();
	}

}
