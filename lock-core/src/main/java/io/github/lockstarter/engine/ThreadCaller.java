// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;

/**
 * A thread that waits for its lock itself, and owns it unless it does so for another
 * owner.
 */
final class ThreadCaller extends Caller {

	private final Thread thread = Thread.currentThread();

	private final Object owner;

	private final boolean interruptible;

	private boolean postponedInterrupt;

	ThreadCaller(Duration waitTime, boolean interruptible, LockMode mode, @Nullable Duration fixedLeaseTime) {
		super(waitTime, mode, fixedLeaseTime);
		this.interruptible = interruptible;
		this.owner = this.thread;
	}

	ThreadCaller(Duration waitTime, LockMode mode, @Nullable Duration fixedLeaseTime, Object owner) {
		super(waitTime, mode, fixedLeaseTime);
		this.interruptible = true;
		this.owner = owner;
	}

	@Override
	Thread thread() {
		return this.thread;
	}

	@Override
	Object owner() {
		return this.owner;
	}

	@Override
	void wake(LocalWaiter waiter) {
		LockSupport.unpark(this.thread);
	}

	@Override
	boolean isInterrupted() {
		if (!this.thread.isInterrupted()) {
			return false;
		}
		if (this.interruptible) {
			return true;
		}
		Thread.interrupted();
		this.postponedInterrupt = true;
		return false;
	}

	@Override
	boolean hasPostponedInterrupt() {
		boolean interrupted = this.thread.isInterrupted();
		return !isInterrupted() && interrupted;
	}

	@Override
	void finish() {
		if (this.postponedInterrupt) {
			this.thread.interrupt();
		}
	}

}
