// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockMode;

/**
 * A caller that waits without a thread and owns its lock by an identity of its own. Only
 * while it deals with the store a thread works for it.
 */
final class AsyncCaller extends Caller {

	private final Object owner;

	private final Consumer<LocalWaiter> onTurn;

	private volatile @Nullable Thread thread;

	private volatile boolean cancelled;

	/**
	 * Create a caller.
	 * @param owner by what it is known as the owner
	 * @param onTurn called with its place when it is given its turn; must not block
	 */
	AsyncCaller(Duration waitTime, LockMode mode, @Nullable Duration fixedLeaseTime, Object owner,
			Consumer<LocalWaiter> onTurn) {
		super(waitTime, mode, fixedLeaseTime);
		this.owner = owner;
		this.onTurn = onTurn;
	}

	/**
	 * Let the current thread work for it from now on.
	 */
	void useCurrentThread() {
		this.thread = Thread.currentThread();
	}

	@Override
	Thread thread() {
		Thread thread = this.thread;
		return (thread != null) ? thread : Thread.currentThread();
	}

	@Override
	Object owner() {
		return this.owner;
	}

	@Override
	void wake(LocalWaiter waiter) {
		this.onTurn.accept(waiter);
	}

	/**
	 * End its wait. The thread that works for it is not interrupted, as it works for
	 * others afterwards.
	 */
	void cancel() {
		this.cancelled = true;
		LockSupport.unpark(this.thread);
	}

	@Override
	boolean isInterrupted() {
		return this.cancelled;
	}

	@Override
	void finish() {
		this.thread = null;
	}

}
