// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The answer of a store to a request for a lock: a {@link Grant} or a {@link Refusal}.
 */
public sealed interface AcquireResult {

	/**
	 * The owner that asked holds the lock.
	 *
	 * @param fencingBase number of this ownership, strictly larger than that of every
	 * earlier ownership of the same lock, and below 2<sup>51</sup>
	 */
	record Grant(long fencingBase) implements AcquireResult {

		/**
		 * Low bits of a fencing token, which number the holds of an ownership; the others
		 * are its fencing base.
		 */
		public static final int HOLD_NUMBER_BITS = 12;

		private static final long BOUND = 1L << 51;

		/**
		 * @throws IllegalArgumentException if the fencing base is out of range
		 */
		public Grant {
			if (fencingBase < 0 || fencingBase >= BOUND) {
				throw new IllegalArgumentException("'fencingBase' must be from 0 to 2^51 - 1, but was " + fencingBase);
			}
		}

	}

	/**
	 * Another owner holds the lock, or stands before this one in its line.
	 *
	 * @param remaining how long the lease of the other owner lasts if it is not renewed,
	 * or {@code null} if that is not known
	 * @param holder the name of an instance that holds the lock, see
	 * {@link OwnerToken#holder}; {@code null} if none does, because the lock is reserved
	 * for another waiter
	 */
	record Refusal(@Nullable Duration remaining, @Nullable String holder) implements AcquireResult {
	}

}
