// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;

/**
 * A waiter with a thread, which is parked and runs the steps of its waiter, so that
 * neither a driver nor another waiter does its work.
 */
final class ThreadWaiter extends Waiter {

	private static final Runnable GONE = () -> {
	};

	private final Thread thread = Thread.currentThread();

	/** Takes steps only while the thread waits. */
	private final AtomicReference<@Nullable Runnable> step = new AtomicReference<>(GONE);

	ThreadWaiter(Terms terms, Duration waitTime, LockMode mode, @Nullable Duration fixedLeaseTime,
			@Nullable Duration holdAtMost, Object owner) {
		super(terms, waitTime, mode, fixedLeaseTime, holdAtMost, owner);
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
		time().unpark(this.thread);
		return true;
	}

	@Override
	boolean wasInterrupted() {
		return isInterrupted();
	}

	@Override
	void wake() {
		if (Thread.currentThread() != this.thread) {
			time().unpark(this.thread);
		}
	}

	/**
	 * Acquire a lock on the current thread.
	 * @return the lease, or {@code null} if another owner held the lock for the whole
	 * wait time
	 */
	@Nullable HeldLease obtain(LockKey key, StoreGateway gateway) {
		gateway.beginWait(this);
		HeldLease lease = null;
		while (lease == null && !(outcome() instanceof AcquireFailure)) {
			lease = attempt(key, gateway);
		}
		return lease;
	}

	private @Nullable HeldLease attempt(LockKey key, StoreGateway gateway) {
		reset();
		if (isInterrupted()) {
			complete(AcquireFailure.LEFT);
		}
		else {
			arrive(key, gateway);
		}
		return HeldLease.of(this, key, gateway, isInterrupted());
	}

	private void arrive(LockKey key, StoreGateway gateway) {
		try {
			gateway.arrive(key, this);
			await(key, gateway);
		}
		catch (RuntimeException | Error ex) {
			gateway.abandon(key, this, ex);
			runLateStep();
		}
	}

	/**
	 * Wait for the outcome. It may come after the wait time is over: only an answer under
	 * way shows whether another owner holds the lock or this one.
	 */
	private void await(LockKey key, StoreGateway gateway) {
		boolean left = false;
		Outcome outcome = outcome();
		while (outcome == null) {
			Runnable step = this.step.getAndSet(null);
			if (step != null) {
				step.run();
			}
			else if (isInterrupted()) {
				gateway.leave(key, this, false);
			}
			else if (!left && isOutOfTime()) {
				left = true;
				gateway.leave(key, this, true);
			}
			else {
				time().parkUntil(this, left ? time().now() + ENDLESS : deadline());
			}
			outcome = outcome();
		}
		runLateStep();
	}

	/** Take no more steps; one that was taken carries an answer that the lock needs. */
	private void runLateStep() {
		Runnable late = this.step.getAndSet(GONE);
		if (late != null) {
			late.run();
		}
	}

	@Override
	void reset() {
		super.reset();
		this.step.set(null);
	}

	/**
	 * Return whether an interrupt ends the wait; its flag stays set.
	 */
	boolean isInterrupted() {
		return this.thread.isInterrupted();
	}

}
