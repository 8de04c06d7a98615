// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * How a lock is shared.
 */
public enum LockMode {

	/**
	 * One owner at a time. Of those who wait, the next one in the same instance may come
	 * before one in another instance that has waited for longer, but not for long.
	 */
	EXCLUSIVE,

	/**
	 * One owner at a time, served in the order of arrival across all instances, as seen
	 * by the store. Each hand-over goes through the store, so it is much slower than
	 * {@link #EXCLUSIVE}; callers of the other modes do not respect the order.
	 */
	FAIR,

	/**
	 * Shared with other readers, excluded by owners of all other modes. Who waits for the
	 * lock alone is let in before readers that come later. An owner that only reads
	 * cannot ask for the lock alone: that is refused, as two of them would wait for each
	 * other.
	 */
	READ,

	/**
	 * The same as {@link #EXCLUSIVE}, as the counterpart of {@link #READ}. Its owner may
	 * ask for {@link #READ} as well, and has the lock alone until both are given back.
	 */
	WRITE;

	/**
	 * Return whether there can be several owners at a time.
	 */
	public boolean isShared() {
		return this == READ;
	}

}
