// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.backend.OwnerToken;

/**
 * One stretch in which this JVM owns a lock in the store: until when that is certain, and
 * how it ended.
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

	private final LockKey key;

	private final OwnerToken owner;

	private final long fencingToken;

	private final Duration leaseTime;

	private final boolean renewable;

	private final LongSupplier nanoTime;

	private final List<LossCallback> lossCallbacks = new ArrayList<>(0);

	private final AtomicReference<Timetable.@Nullable Entry> alarm = new AtomicReference<>();

	private volatile State state = State.HELD;

	private volatile long deadline;

	private volatile @Nullable String lossReason;

	private volatile @Nullable Long uncertainUntil;

	/**
	 * Begin a tenure.
	 * @param sentAt when the request that was granted was sent
	 * @param renewable whether the watchdog renews it
	 */
	Tenure(LockKey key, OwnerToken owner, long fencingBase, Duration leaseTime, boolean renewable, long sentAt,
			LongSupplier nanoTime) {
		this.key = key;
		this.owner = owner;
		this.fencingToken = fencingBase << HOLD_NUMBER_BITS;
		this.leaseTime = leaseTime;
		this.renewable = renewable;
		this.nanoTime = nanoTime;
		this.deadline = deadlineFrom(sentAt);
	}

	LockKey key() {
		return this.key;
	}

	OwnerToken owner() {
		return this.owner;
	}

	long fencingToken() {
		return this.fencingToken;
	}

	Duration leaseTime() {
		return this.leaseTime;
	}

	boolean isRenewable() {
		return this.renewable;
	}

	/**
	 * Return the slot of the watchdog's next action for this tenure.
	 */
	AtomicReference<Timetable.@Nullable Entry> alarm() {
		return this.alarm;
	}

	long deadline() {
		return this.deadline;
	}

	/**
	 * Return whether the lease is certain to last at this moment.
	 */
	boolean isHeld() {
		return !isOver() && remainingNanos() > 0;
	}

	/**
	 * Return whether the tenure was ended, by release or loss.
	 */
	boolean isOver() {
		State state = this.state;
		return state == State.LOST || state == State.RELEASED;
	}

	boolean isLost() {
		return this.state == State.LOST;
	}

	long remainingNanos() {
		return this.deadline - this.nanoTime.getAsLong();
	}

	/**
	 * Note a successful renewal.
	 * @param sentAt when its request was sent
	 * @return whether it ended a suspicion
	 */
	synchronized boolean renewed(long sentAt) {
		if (isOver()) {
			return false;
		}
		this.deadline = deadlineFrom(sentAt);
		boolean recovered = this.state == State.SUSPECT;
		this.state = State.HELD;
		return recovered;
	}

	/**
	 * Note a failed renewal.
	 * @return whether it is the first in a row
	 */
	synchronized boolean suspect() {
		if (this.state != State.HELD) {
			return false;
		}
		this.state = State.SUSPECT;
		return true;
	}

	/**
	 * End the tenure as released by its owner.
	 * @return false if it was over before or its deadline has passed
	 */
	synchronized boolean release() {
		if (!isHeld()) {
			return false;
		}
		this.state = State.RELEASED;
		return true;
	}

	/**
	 * End the tenure as lost.
	 * @param reason how, or {@code null} if its deadline has passed
	 * @return false if it was over before
	 */
	synchronized boolean lose(@Nullable String reason) {
		return !isOver() && becomeLost(reason);
	}

	/**
	 * Correct a release that came too late.
	 * @return false if the loss was known
	 */
	synchronized boolean loseAtRelease(String reason) {
		return !isLost() && becomeLost(reason);
	}

	private boolean becomeLost(@Nullable String reason) {
		this.lossReason = reason;
		this.state = State.LOST;
		return true;
	}

	/**
	 * Return a new exception that tells of the loss.
	 */
	LockLostException loss() {
		return new LockLostException(this.key, this.fencingToken, lossReason());
	}

	/**
	 * Return how the lock was lost; by its deadline if nothing else is known.
	 */
	String lossReason() {
		String reason = this.lossReason;
		if (reason != null) {
			return reason;
		}
		return this.renewable ? "its lease ran out before it could be renewed"
				: "its lease time of " + this.leaseTime.toMillis() + " ms ran out before it was given back";
	}

	/**
	 * Keep a callback for the loss of this tenure.
	 * @param lease whose callback it is
	 * @return false if it is lost already and the callback has to be called at once
	 */
	synchronized boolean onLost(Object lease, Consumer<LockLostException> callback) {
		return !isLost() && this.lossCallbacks.add(new LossCallback(lease, callback));
	}

	/**
	 * Forget the callbacks of a lease that is closed.
	 */
	synchronized void forgetCallbacks(Object lease) {
		this.lossCallbacks.removeIf((callback) -> callback.lease() == lease);
	}

	/**
	 * Return the callbacks, to be called after the loss.
	 */
	synchronized List<Consumer<LockLostException>> lossCallbacks() {
		return this.lossCallbacks.stream().<Consumer<LockLostException>>map(LossCallback::callback).toList();
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

	private long deadlineFrom(long sentAt) {
		long lease = this.leaseTime.toNanos();
		long drift = Math.min(lease / 100 + 2_000_000, lease / 4);
		return sentAt + lease - drift;
	}

	private record LossCallback(Object lease, Consumer<LockLostException> callback) {
	}

	private enum State {

		/** Granted, and renewed in time. */
		HELD,

		/** The last renewal failed; the lease has not ended yet. */
		SUSPECT,

		/** Ended before it was released. */
		LOST,

		/** Given back by its owner. */
		RELEASED

	}

}
