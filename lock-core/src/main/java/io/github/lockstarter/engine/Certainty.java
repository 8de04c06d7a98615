// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Until when this JVM certainly owns a lock in the store, and how that has ended. It ends
 * once; the first cause counts. Changed under its own monitor, because answers to
 * renewals must not wait for the guard of a lock.
 *
 * <p>
 * The deadline counts on the monotonic clock from before the request was sent. It is
 * shortened by an allowance for clocks that run at different speeds, as in the <a href=
 * "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Redlock
 * algorithm</a>, so it passes before the lease expires in the store.
 */
final class Certainty {

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

	/**
	 * Begin with a grant.
	 * @param sentAt when the request that was granted was sent
	 * @param leaseTime length of the lease that was requested
	 * @param longestLease the longest time for which the grant counts
	 */
	Certainty(long sentAt, Duration leaseTime, Duration longestLease) {
		this.claimedUntil = sentAt;
		claim(sentAt, leaseTime);
		extend(sentAt, leaseTime, longestLease);
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
	 * release came first
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
	 * Return whether the store has to keep the lock after its last hold.
	 */
	boolean isKept() {
		return this.state == State.KEPT;
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
	 * End the certainty by a release.
	 * @return {@code false} if it was already over
	 */
	boolean release() {
		return end(State.RELEASED);
	}

	/**
	 * End the certainty because the store keeps the lock for its owner from now on.
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
	 * End the certainty by a loss.
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
	long endOf(Duration leaseTime) {
		return Drift.end(this.grantedAt, leaseTime);
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
