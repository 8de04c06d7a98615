// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A kind of lock under attack. Locks belong to the calling thread.
 */
interface LockClient extends AutoCloseable {

	/**
	 * Take a lock.
	 * @return the hold, or {@code null} if somebody else held the lock for the whole time
	 * @throws InterruptedException if the thread was interrupted
	 * @throws RuntimeException if nobody knows whether the lock was granted
	 */
	@Nullable Held tryLock(String key, Duration waitTime) throws InterruptedException;

	/**
	 * Return how many locks and background actions this client still keeps; 0 if that is
	 * not known.
	 */
	int residue();

	@Override
	void close();

	/**
	 * A lock that was granted.
	 */
	interface Held {

		/**
		 * Return the fencing token, or 0 if there is none.
		 */
		long token();

		/**
		 * Return whether the holder has no reason to doubt that it holds the lock.
		 */
		boolean isHeld();

		/**
		 * Give the lock back.
		 * @throws RuntimeException if it was lost, or nobody knows whether it is free now
		 */
		void unlock();

	}

}
