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
	 *
	 * <p>
	 * An instance that died while it waited costs those behind it nothing, if the server
	 * has noticed. One that hangs or is cut off when its turn comes costs them the time
	 * for which a free lock is kept for it, once: 20 ms near the store, about three round
	 * trips further away, at most 1.3 s. In a cluster, where no server knows who listens,
	 * a dead instance costs as much as one that hangs.
	 */
	FAIR,

	/**
	 * Shared with other readers, excluded by owners of all other modes. Who waits for the
	 * lock alone is let in before readers that come later. An owner that only reads
	 * cannot ask for the lock alone: that is refused, as two of them would wait for each
	 * other. Fencing tokens of readers are larger than those of all earlier writers; from
	 * the 4096th on, readers of one instance that follow each other without a gap have
	 * the same.
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
