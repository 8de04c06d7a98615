// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.store.OwnerToken;

/**
 * A request for a lock by one owner: its mode, its lease time, its remaining wait time
 * and its outcome. Whether it waits on a thread or without one is up to the subclass.
 */
abstract class Waiter {

	/** Longer than a century, so that its end never comes. */
	static final long ENDLESS = Long.MAX_VALUE / 2;

	private final Terms terms;

	private final long start;

	private final long budget;

	private final LockMode mode;

	private final @Nullable Duration fixedLeaseTime;

	private final @Nullable Duration holdAtMost;

	private boolean body;

	private final Object owner;

	private volatile @Nullable Outcome outcome;

	private volatile boolean arrived;

	/** Only of a waiter that stands in the line of the store under its own token. */
	private volatile @Nullable LinePlace place;

	/** Guarded by the lock. */
	private boolean reentered;

	/**
	 * Create a waiter whose wait time begins now.
	 * @param waitTime how long to wait at most
	 * @param fixedLeaseTime fixed length of the lease, or {@code null} for one that is
	 * renewed
	 * @param holdAtMost for how long it is renewed, or {@code null} if there is no limit
	 * @param owner the identity that makes a further request reentrant
	 */
	Waiter(Terms terms, Duration waitTime, LockMode mode, @Nullable Duration fixedLeaseTime,
			@Nullable Duration holdAtMost, Object owner) {
		this.terms = terms;
		this.start = terms.now();
		this.budget = (waitTime.compareTo(LockRequest.FOREVER) < 0) ? Math.min(waitTime.toNanos(), ENDLESS) : ENDLESS;
		this.mode = mode;
		this.fixedLeaseTime = fixedLeaseTime;
		this.holdAtMost = holdAtMost;
		this.owner = owner;
		this.place = isFair() ? new LinePlace(newToken()) : null;
	}

	/**
	 * Return a new token for its mode.
	 */
	OwnerToken newToken() {
		return this.terms.newToken(this.mode);
	}

	/**
	 * Run a step of this waiter where it waits.
	 * @param step the step
	 * @param blocking whether the step may block
	 * @return {@code false} if the waiter does not run steps, or no longer waits
	 */
	abstract boolean execute(Runnable step, boolean blocking);

	/**
	 * Return whether an interrupt has ended its last step early.
	 */
	boolean wasInterrupted() {
		return false;
	}

	/**
	 * Make the waiter look at its outcome. Must not block.
	 */
	abstract void wake();

	LockMode mode() {
		return this.mode;
	}

	/**
	 * Return whether it may hold the lock together with others.
	 */
	boolean isShared() {
		return this.mode == LockMode.READ;
	}

	/**
	 * Return whether it stands in the line of the store under its own token, and not as
	 * part of its JVM.
	 */
	boolean isFair() {
		return this.mode == LockMode.FAIR;
	}

	Object owner() {
		return this.owner;
	}

	@Nullable Duration fixedLeaseTime() {
		return this.fixedLeaseTime;
	}

	@Nullable Duration holdAtMost() {
		return this.holdAtMost;
	}

	/**
	 * Return the lease time to request.
	 */
	Duration leaseTime() {
		Duration longest = this.holdAtMost;
		if (this.fixedLeaseTime != null) {
			return this.fixedLeaseTime;
		}
		Duration leaseTime = this.terms.leaseTime();
		return (longest != null && longest.compareTo(leaseTime) < 0) ? longest : leaseTime;
	}

	/**
	 * Return whether it may share what others were granted. With one lease time for all
	 * of them, a renewal never shortens the lease in the store.
	 * @param mode the mode of the grant
	 * @param leaseTime the lease time that was requested
	 */
	boolean suits(LockMode mode, Duration leaseTime) {
		return isShared() == (mode == LockMode.READ) && !isFair() && mode != LockMode.FAIR
				&& leaseTime.equals(leaseTime());
	}

	/**
	 * Note whether the lock guards a body, whose end closes the lease. Called before the
	 * waiter arrives.
	 */
	void setBody(boolean body) {
		this.body = body;
	}

	boolean hasBody() {
		return this.body;
	}

	/**
	 * Return the token under which it stands in the line of the store.
	 */
	OwnerToken token() {
		return place().token();
	}

	/**
	 * Replace the token and its place, because the store may know it from another
	 * request.
	 * @return the old token if its place must be given up now, or {@code null}
	 */
	@Nullable OwnerToken renewToken() {
		LinePlace old = this.place;
		if (old == null) {
			return null;
		}
		this.place = new LinePlace(newToken());
		return old.leave(!this.reentered) ? old.token() : null;
	}

	/**
	 * Return its place in the line of the store, where it stands under its own token.
	 */
	LinePlace place() {
		return Objects.requireNonNull(this.place);
	}

	/**
	 * Note that the waiter has arrived at a lock, and waits there or has an outcome.
	 * Called under the guard of the lock.
	 */
	void setArrived() {
		this.arrived = true;
	}

	boolean hasArrived() {
		return this.arrived;
	}

	/**
	 * Set the outcome; the waiter must still be {@linkplain #wake() woken}. Called under
	 * the guard of the lock.
	 */
	void complete(Outcome outcome) {
		this.outcome = outcome;
	}

	@Nullable Outcome outcome() {
		return this.outcome;
	}

	/**
	 * Let the waiter arrive anew, after a hold that was lost on the way.
	 */
	void reset() {
		this.outcome = null;
		this.arrived = false;
		this.reentered = false;
	}

	/**
	 * Note that the outcome is a further level of an existing hold.
	 */
	void setReentered() {
		this.reentered = true;
	}

	boolean hasReentered() {
		return this.reentered;
	}

	Time time() {
		return this.terms.time();
	}

	/**
	 * Return when the wait has begun.
	 */
	long start() {
		return this.start;
	}

	Duration waited() {
		return Duration.ofNanos(this.terms.now() - this.start);
	}

	/**
	 * Return when the wait time is over.
	 */
	long deadline() {
		return this.start + this.budget;
	}

	/**
	 * Return how much of the wait time is left, or {@code null} if it has no end.
	 */
	@Nullable Duration left() {
		return isEndless() ? null : Duration.ofNanos(Math.max(0, deadline() - this.terms.now()));
	}

	boolean isOutOfTime() {
		return deadline() - this.terms.now() <= 0;
	}

	/**
	 * Return whether the rest of the wait time is not shorter than some time.
	 */
	boolean hasTime(Duration time) {
		return deadline() - this.terms.now() >= time.toNanos();
	}

	boolean isEndless() {
		return this.budget == ENDLESS;
	}

	/**
	 * The end of a wait: a hold of the lock, or the reason why the waiter does not
	 * acquire it.
	 */
	sealed interface Outcome permits Hold, AcquireFailure {

	}

}
