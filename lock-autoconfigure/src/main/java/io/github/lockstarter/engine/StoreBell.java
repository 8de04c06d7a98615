// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Wakes the one caller of this JVM that waits for a lock to become free in the store, or
 * sends its next request at once, so that it wakes to the answer.
 */
final class StoreBell {

	private volatile boolean rung;

	private volatile @Nullable Errand errand;

	/**
	 * Ring, on a thread that must not block.
	 */
	void ring() {
		Errand errand = this.errand;
		if (errand != null && errand.run()) {
			return;
		}
		wake();
	}

	/**
	 * Wake the caller without sending its request, so that it looks about.
	 */
	void wake() {
		this.rung = true;
		Errand errand = this.errand;
		if (errand != null) {
			LockSupport.unpark(errand.caller());
		}
	}

	/**
	 * Forget earlier rings, before asking the store.
	 */
	void reset() {
		this.rung = false;
	}

	/**
	 * Wait until it rings, the time is over or the caller is interrupted.
	 * @param request sends the caller's next request, or gives {@code null} if it cannot
	 * do so without blocking
	 * @return the request, if it was sent; perhaps without an answer yet
	 */
	@Nullable SentRequest await(Caller caller, long nanos, Supplier<@Nullable SentRequest> request) {
		long start = System.nanoTime();
		Errand errand = new Errand(caller.thread(), request);
		this.errand = errand;
		try {
			long left = nanos;
			while (!isOver(errand, left) && !caller.isOutOfTime() && !caller.isInterrupted()) {
				caller.park(this, errand.isTaken() ? Long.MAX_VALUE : left);
				left = nanos - (System.nanoTime() - start);
			}
		}
		finally {
			this.errand = null;
		}
		return errand.end();
	}

	private boolean isOver(Errand errand, long left) {
		return errand.isTaken() ? errand.isAnswered() : this.rung || left <= 0;
	}

}
