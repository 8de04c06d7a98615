// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;

/**
 * One grant of a lock within an ownership: its owner, its levels, and how it ended.
 */
final class Hold implements Waiter.Outcome {

	private final Ownership ownership;

	private final Object owner;

	private final long fencingToken;

	private final @Nullable Duration fixedLeaseTime;

	private final @Nullable Duration holdAtMost;

	private final long endsAt;

	private final long since;

	private volatile State state = State.HELD;

	private volatile @Nullable String lossReason;

	/** Guarded by this. */
	private boolean published;

	/** Guarded by this. */
	private List<Callback> callbacks = Collections.emptyList();

	private volatile Timetable.@Nullable Entry alarm;

	/** For how long each level keeps the lock, by its number. Guarded by this. */
	private @Nullable NavigableMap<Integer, Long> keeping;

	private volatile long shortest;

	/** Guarded by this. */
	private int levels;

	private volatile boolean bodyRunning;

	/** Guarded by the lock. */
	private int count = 1;

	/** Guarded by the lock. */
	private int warnings;

	/**
	 * Create a hold.
	 * @param fixedLeaseTime the fixed lease time, or {@code null} if the lease is renewed
	 * @param holdAtMost for how long it is renewed, or {@code null} if the hold lasts as
	 * long as its ownership
	 * @param body whether it guards a body
	 * @param since when the hold begins, on the clock of the ownership
	 * @param endsAt when it is over, if it is limited
	 */
	Hold(Ownership ownership, Object owner, long fencingToken, @Nullable Duration fixedLeaseTime,
			@Nullable Duration holdAtMost, boolean body, long since, long endsAt) {
		this.ownership = ownership;
		this.owner = owner;
		this.fencingToken = fencingToken;
		this.fixedLeaseTime = fixedLeaseTime;
		this.holdAtMost = holdAtMost;
		this.bodyRunning = body;
		this.since = since;
		this.endsAt = endsAt;
	}

	LockKey key() {
		return this.ownership.key();
	}

	LockMode mode() {
		return this.ownership.owner().mode();
	}

	Ownership ownership() {
		return this.ownership;
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
		return Duration.ofNanos(this.ownership.now() - this.since);
	}

	/**
	 * Return the number of a new level, larger than those of all earlier ones.
	 */
	synchronized int nextLevel() {
		return this.levels++;
	}

	/**
	 * Keep the lock for at least this long after the beginning of the hold. The longest
	 * time of all levels counts. Zero is the failure of a level, and takes back what the
	 * levels inside it have said as well.
	 */
	synchronized void holdAtLeast(int level, Duration time) {
		NavigableMap<Integer, Long> keeping = (this.keeping != null) ? this.keeping : new TreeMap<>();
		this.keeping = keeping;
		if (time.isZero()) {
			keeping.tailMap(level, true).clear();
		}
		else {
			keeping.put(level, time.toNanos());
		}
		this.shortest = keeping.isEmpty() ? 0 : Collections.max(keeping.values());
	}

	/**
	 * Return until when the lock must be kept, on the clock of the ownership.
	 */
	long keptUntil() {
		return this.since + this.shortest;
	}

	/**
	 * Return whether the lock is kept after the hold.
	 */
	boolean isKept() {
		return this.state == State.KEPT;
	}

	/**
	 * Return whether the hold may end before its ownership does.
	 */
	boolean needsLimit() {
		return isLimited() && (this.ownership.isShared() || this.endsAt != this.ownership.deadline());
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

	Object owner() {
		return this.owner;
	}

	/**
	 * Return whether this hold already grants the given mode.
	 */
	boolean covers(LockMode mode) {
		return mode == LockMode.READ || !this.ownership.isShared();
	}

	/**
	 * Return whether the lock is certainly held at this moment.
	 */
	boolean isHeld() {
		return isHeld(this.ownership.now());
	}

	private boolean isHeld(long now) {
		return !isOver() && this.ownership.isHeld(now) && (!isLimited() || this.endsAt - now > 0);
	}

	/**
	 * Return whether the hold was released, kept or lost.
	 */
	boolean isOver() {
		return this.state != State.HELD;
	}

	boolean isLost() {
		return this.state == State.LOST;
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
		long remaining = this.ownership.remainingNanos();
		return isLimited() ? Math.min(remaining, this.endsAt - this.ownership.now()) : remaining;
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
	synchronized void end(long now) {
		boolean kept = keptUntil() - now > 0;
		this.state = !isHeld(now) ? State.LOST : kept ? State.KEPT : State.RELEASED;
	}

	/**
	 * End the hold as lost, even if it seemed to be released.
	 * @param reason the reason, or {@code null} if its lease time was over
	 * @return {@code false} if the loss was already known
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
	 * Return whether the caller must publish that the hold has ended without a loss.
	 * Several threads may exit the hold at once, but only one of them publishes that.
	 */
	synchronized boolean beginPublishing() {
		boolean due = (this.state == State.RELEASED || isKept()) && !this.published;
		this.published |= due;
		return due;
	}

	/**
	 * Publish nothing more, because the failure of the release is published.
	 */
	synchronized void releaseFailed() {
		this.published = true;
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
		return this.holdAtMost != null && knownReason() == null && this.ownership.deadline() - this.endsAt >= 0;
	}

	private @Nullable String knownReason() {
		return (this.lossReason != null) ? this.lossReason : this.ownership.lossReason();
	}

	/**
	 * Keep a callback for the loss.
	 * @param lease whose callback it is
	 * @param context the context that the callback is called with
	 * @return {@code false} if the hold is already lost and the callback must be called
	 * at once
	 */
	synchronized boolean onLost(Object lease, Consumer<LockLostException> callback, CallContext context) {
		if (isLost()) {
			return false;
		}
		if (this.callbacks.isEmpty()) {
			this.callbacks = new ArrayList<>();
		}
		return this.callbacks.add(new Callback(lease, callback, context));
	}

	/**
	 * Forget the callbacks of a lease that is closed.
	 */
	synchronized void forgetCallbacks(Object lease) {
		this.callbacks.removeIf((callback) -> callback.lease == lease);
	}

	/**
	 * Return the callbacks to call after the loss.
	 */
	synchronized List<Callback> callbacks() {
		return List.copyOf(this.callbacks);
	}

	record Callback(Object lease, Consumer<LockLostException> action, CallContext context) {
	}

	private enum State {

		HELD, RELEASED, KEPT, LOST

	}

}
