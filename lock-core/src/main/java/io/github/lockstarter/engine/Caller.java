// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.store.OwnerToken;

/**
 * Who asks for a lock: its one budget of time, what ends its wait early, and how and for
 * how long it wants the lock.
 */
abstract class Caller {

	private static final long ENDLESS = Long.MAX_VALUE / 2;

	private final long start = System.nanoTime();

	private final long budget;

	private final LockMode mode;

	private final @Nullable Duration fixedLeaseTime;

	private @Nullable OwnerToken token;

	private boolean placed;

	Caller(Duration waitTime, LockMode mode, @Nullable Duration fixedLeaseTime) {
		this.budget = (waitTime.compareTo(LockRequest.FOREVER) < 0) ? waitTime.toNanos() : Long.MAX_VALUE;
		this.mode = mode;
		this.fixedLeaseTime = fixedLeaseTime;
	}

	/**
	 * Return the current thread as a caller.
	 * @param mode how it wants to share the lock
	 * @param fixedLeaseTime length of the lease that it wants, or {@code null} for one
	 * that is renewed
	 */
	static Caller interruptible(Duration waitTime, LockMode mode, @Nullable Duration fixedLeaseTime) {
		return new ThreadCaller(waitTime, true, mode, fixedLeaseTime);
	}

	/**
	 * Return the current thread as a caller for which interrupts do not end the wait;
	 * {@link #finish()} restores the flag.
	 */
	static Caller uninterruptible(Duration waitTime, LockMode mode) {
		return new ThreadCaller(waitTime, false, mode, null);
	}

	/**
	 * Return the thread that deals with the store on its behalf.
	 */
	abstract Thread thread();

	/**
	 * Return by what it is known as the owner when it comes again.
	 */
	abstract Object owner();

	/**
	 * Let it take up the turn that it was given. Must not block.
	 */
	abstract void wake(LocalWaiter waiter);

	/**
	 * Return whether it has to stop because of an interrupt, which stays.
	 */
	abstract boolean isInterrupted();

	/**
	 * Return whether an interrupt that does not end its wait may have ended what its
	 * thread was waiting for.
	 */
	boolean hasPostponedInterrupt() {
		return false;
	}

	/**
	 * End the dealings with the lock.
	 */
	void finish() {
	}

	LockMode mode() {
		return this.mode;
	}

	/**
	 * Return the token with which it asks the store.
	 */
	OwnerToken token() {
		if (this.token == null) {
			this.token = OwnerToken.random(this.mode);
		}
		return this.token;
	}

	/**
	 * Return a new token, by which it is known from now on.
	 */
	OwnerToken nextToken() {
		this.token = OwnerToken.random(this.mode);
		return this.token;
	}

	/**
	 * Note that it may stand in the queue of the store under its own name.
	 */
	void setPlaced() {
		this.placed = true;
	}

	boolean isPlaced() {
		return this.placed;
	}

	boolean isInOrderOfArrival() {
		return this.mode == LockMode.FAIR;
	}

	@Nullable Duration fixedLeaseTime() {
		return this.fixedLeaseTime;
	}

	Duration waited() {
		return Duration.ofNanos(System.nanoTime() - this.start);
	}

	long remainingNanos() {
		return this.budget - (System.nanoTime() - this.start);
	}

	boolean isOutOfTime() {
		return remainingNanos() <= 0;
	}

	boolean isEndless() {
		return remainingNanos() >= ENDLESS;
	}

	/**
	 * Wait until woken, out of time or interrupted; may return early.
	 * @param blocker what the thread waits for
	 * @param maxNanos longest time
	 */
	void park(Object blocker, long maxNanos) {
		long nanos = Math.min(maxNanos, remainingNanos());
		if (nanos < ENDLESS) {
			LockSupport.parkNanos(blocker, nanos);
		}
		else {
			// A timer for each of many virtual threads costs more than all the rest
			LockSupport.park(blocker);
		}
	}

}
