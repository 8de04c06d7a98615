// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

/**
 * The owner that asked holds the lock.
 *
 * @param fencingBase number of this tenure, strictly larger than that of every earlier
 * tenure of the same lock, and below 2<sup>51</sup>
 * @param awaited whether another JVM stands in the line of the lock; {@code true} if that
 * is not known
 */
public record LockGrant(long fencingBase, boolean awaited) implements LockAttempt {

	private static final long BOUND = 1L << 51;

	/**
	 * @throws IllegalArgumentException if the fencing base is out of range
	 */
	public LockGrant {
		if (fencingBase < 0 || fencingBase >= BOUND) {
			throw new IllegalArgumentException("'fencingBase' must be from 0 to 2^51 - 1, but was " + fencingBase);
		}
	}

}
