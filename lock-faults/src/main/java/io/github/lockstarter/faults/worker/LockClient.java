// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.time.Duration;
import java.util.Optional;

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
	 * Acquire a lock in one of several ways, as far as there are several.
	 * @return see {@link #tryLock(String, Duration)}
	 */
	default @Nullable Held tryLock(String key, Duration waitTime, Way way) throws InterruptedException {
		return tryLock(key, waitTime);
	}

	/**
	 * Return the store of the locks, if it can be silenced.
	 */
	default Optional<UnansweringStore> store() {
		return Optional.empty();
	}

	/**
	 * Return how many locks and background actions this client still keeps, or 0 if that
	 * is unknown.
	 */
	int residue();

	@Override
	void close();

	/**
	 * How a lock is acquired: by a thread or by a future, alone or in a set.
	 */
	enum Way {

		THREAD, FUTURE, SET, FUTURE_SET

	}

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
		 * Return whether it belongs to the calling thread, as its transactions do.
		 */
		default boolean isOfThread() {
			return true;
		}

		/**
		 * Release the lock.
		 * @throws RuntimeException if the lock was lost, or it is unknown whether the
		 * lock is free
		 */
		void unlock();

	}

}
