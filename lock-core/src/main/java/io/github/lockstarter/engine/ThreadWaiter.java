// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;

/**
 * A thread that waits for its lock itself. While it waits it runs its own steps, so that
 * neither a driver nor another waiter does its work.
 */
final class ThreadWaiter extends Waiter {

	private static final Runnable GONE = () -> {
	};

	private final Thread thread = Thread.currentThread();

	private final boolean interruptible;

	private final AtomicReference<@Nullable Runnable> step = new AtomicReference<>();

	private boolean postponedInterrupt;

	ThreadWaiter(Duration waitTime, boolean interruptible, LockMode mode, @Nullable Duration fixedLeaseTime) {
		super(waitTime, mode, fixedLeaseTime, Thread.currentThread());
		this.interruptible = interruptible;
	}

	/**
	 * Create a waiter that acquires the lock for another owner than its thread.
	 */
	ThreadWaiter(Duration waitTime, LockMode mode, @Nullable Duration fixedLeaseTime, Object owner) {
		super(waitTime, mode, fixedLeaseTime, owner);
		this.interruptible = true;
	}

	@Override
	boolean execute(Runnable step, boolean blocking) {
		if (Thread.currentThread() == this.thread) {
			step.run();
			return true;
		}
		if (!this.step.compareAndSet(null, step)) {
			return false;
		}
		LockSupport.unpark(this.thread);
		return true;
	}

	@Override
	boolean wasInterrupted() {
		if (!this.thread.isInterrupted()) {
			return false;
		}
		isInterrupted();
		return true;
	}

	@Override
	boolean isInterruptible() {
		return this.interruptible;
	}

	@Override
	void wake() {
		if (Thread.currentThread() != this.thread) {
			LockSupport.unpark(this.thread);
		}
	}

	/**
	 * Wait for the outcome, which may come after the time is over: without an answer that
	 * is under way nobody knows whether the lock is held by another owner or by this one.
	 * @param leave called when the time is over or the thread interrupted, with whether
	 * the time is over
	 */
	Outcome await(LeaveAction leave) {
		boolean left = false;
		Outcome outcome = outcome();
		while (outcome == null) {
			Runnable step = this.step.getAndSet(null);
			if (step != null) {
				step.run();
			}
			else if (isInterrupted()) {
				leave.leave(false);
			}
			else if (!left && isOutOfTime()) {
				left = true;
				leave.leave(true);
			}
			else {
				park(left);
			}
			outcome = outcome();
		}
		Runnable late = this.step.getAndSet(GONE);
		if (late != null) {
			late.run();
		}
		return outcome;
	}

	@Override
	void reset() {
		super.reset();
		this.step.set(null);
	}

	private void park(boolean left) {
		if (left || isEndless()) {
			// A timer for each of many virtual threads costs more than all the rest
			LockSupport.park(this);
		}
		else {
			LockSupport.parkNanos(this, remainingNanos());
		}
	}

	/**
	 * Return whether the wait has to end because of an interrupt, which stays. Another
	 * one is put off: drivers refuse to wait for an answer on an interrupted thread.
	 */
	boolean isInterrupted() {
		if (!this.thread.isInterrupted()) {
			return false;
		}
		if (!this.interruptible) {
			Thread.interrupted();
			this.postponedInterrupt = true;
		}
		return this.interruptible;
	}

	/**
	 * End the wait: an interrupt that did not end it comes now.
	 */
	void finish() {
		if (this.postponedInterrupt) {
			this.thread.interrupt();
		}
	}

	/**
	 * Lets a waiter leave its lock.
	 */
	@FunctionalInterface
	interface LeaveAction {

		void leave(boolean timedOut);

	}

}
