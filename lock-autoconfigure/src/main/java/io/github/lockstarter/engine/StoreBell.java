// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Wakes the one caller of this JVM that waits for a lock to become free in the store.
 */
final class StoreBell {

	private volatile boolean rung;

	private volatile @Nullable Thread listener;

	void ring() {
		this.rung = true;
		LockSupport.unpark(this.listener);
	}

	/**
	 * Forget earlier rings, before asking the store.
	 */
	void reset() {
		this.rung = false;
	}

	/**
	 * Wait until it rings, the time is over or the caller is interrupted.
	 */
	void await(Caller caller, long nanos) {
		long start = System.nanoTime();
		this.listener = caller.thread();
		try {
			long left = nanos;
			while (!this.rung && left > 0 && !caller.isOutOfTime() && !caller.isInterrupted()) {
				caller.park(this, left);
				left = nanos - (System.nanoTime() - start);
			}
		}
		finally {
			this.listener = null;
		}
	}

}
