// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Wakes the one caller of this JVM that waits for a lock to become free in the store, or
 * sends its next request at once, so that it wakes to the answer.
 */
final class StoreBell {

	/** An answer wakes its caller; this is for one that came before it lay down. */
	private static final long LONGEST_DOZE = TimeUnit.SECONDS.toNanos(1);

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
	 * Wait until it rings, the time is over or the caller is interrupted. Once its
	 * request was sent, the caller waits for the answer even if its time is over: without
	 * it nobody knows whether the lock is held by somebody else or by this caller.
	 * @param request sends the caller's next request, or gives {@code null} if it cannot
	 * do so without blocking
	 * @return the request, if it was sent; without an answer only if the caller is
	 * interrupted
	 */
	@Nullable SentRequest await(Caller caller, long nanos, Supplier<@Nullable SentRequest> request) {
		long start = System.nanoTime();
		Errand errand = new Errand(caller.thread(), request);
		this.errand = errand;
		try {
			long left = nanos;
			while (!this.rung && !errand.isTaken() && left > 0 && !caller.isOutOfTime() && !caller.isInterrupted()) {
				caller.park(this, left);
				left = nanos - (System.nanoTime() - start);
			}
		}
		finally {
			this.errand = null;
		}
		SentRequest sent = errand.end();
		while (sent != null && !sent.answer().isDone() && !caller.isInterrupted()) {
			LockSupport.parkNanos(this, LONGEST_DOZE);
		}
		return sent;
	}

}
