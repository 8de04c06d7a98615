// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * How a lock is shared.
 */
public enum LockMode {

	/**
	 * One owner at a time. A waiter in the same instance may overtake one in another
	 * instance, for one time slice at most.
	 */
	EXCLUSIVE,

	/**
	 * One owner at a time, first in first out across all instances, in the order in which
	 * requests reach the store. Each hand-over goes through the store, so it is much
	 * slower than {@link #EXCLUSIVE}. Callers of the other modes ignore the order.
	 *
	 * <p>
	 * A waiting instance that died does not delay the waiters behind it if the server has
	 * noticed its death. An instance that hangs or is cut off when its turn comes delays
	 * them once, by the time for which a free lock is kept for it: 20 ms near the store,
	 * about three round trips further away, at most 1.3 s. In a cluster no server knows
	 * which instances listen, so a dead instance delays them as one that hangs.
	 */
	FAIR,

	/**
	 * Shared with other readers, exclusive towards owners of all other modes. A waiting
	 * writer is admitted before readers that arrive later. A reader cannot upgrade to a
	 * writer: two readers that tried would deadlock, so the request is refused. Fencing
	 * tokens of readers are larger than those of all earlier writers. When readers of one
	 * instance follow each other without a gap, they share one token from the 4096th on.
	 */
	READ,

	/**
	 * The same as {@link #EXCLUSIVE}, as the counterpart of {@link #READ}. Its owner may
	 * acquire the lock for {@link #READ} as well, and excludes all others until both are
	 * released.
	 */
	WRITE

}
