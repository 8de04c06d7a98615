// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A lock implementation under attack. Locks belong to the calling thread.
 */
interface LockClient extends AutoCloseable {

	/**
	 * Acquire a lock.
	 * @return the hold, or {@code null} if another owner held the lock for the whole wait
	 * time
	 * @throws InterruptedException if the thread was interrupted
	 * @throws RuntimeException if it is unknown whether the lock was granted
	 */
	@Nullable Held tryLock(String key, Duration waitTime) throws InterruptedException;

	/**
	 * Return how many locks and background actions this client still keeps, or 0 if that
	 * is unknown.
	 */
	int residue();

	@Override
	void close();

	/**
	 * A granted lock.
	 */
	interface Held {

		/**
		 * Return the fencing token, or 0 if there is none.
		 */
		long token();

		/**
		 * Return whether the lock is held as far as the holder can know.
		 */
		boolean isHeld();

		/**
		 * Release the lock.
		 * @throws RuntimeException if the lock was lost, or it is unknown whether the
		 * lock is free
		 */
		void unlock();

	}

}
