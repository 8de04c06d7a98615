// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * How a lock is held: exclusive or shared, and with or without FIFO order.
 */
public enum LockMode {

	/**
	 * One owner at a time. A waiter in the same instance may overtake one in another
	 * instance, for one time slice at most.
	 */
	EXCLUSIVE,

	/**
	 * One owner at a time, first in first out across all instances, in the order in which
	 * requests reach the store. Each grant goes through the store, so this mode is much
	 * slower than {@link #EXCLUSIVE}. Requests in the other modes ignore the order.
	 *
	 * <p>
	 * A dead instance does not delay the waiters behind it once the server has noticed
	 * its death. An instance that hangs or is cut off when its turn comes delays them
	 * once, for as long as a free lock is reserved for it: 20 ms near the store, about
	 * three round trips further away, at most 1.3 s. In a cluster no server knows which
	 * instances listen, so a dead instance causes the same delay as one that hangs.
	 */
	FAIR,

	/**
	 * Shared with other readers; excludes owners in all other modes. A waiting writer is
	 * admitted before readers that arrive later. A reader cannot upgrade to a writer: two
	 * readers that tried would deadlock, so the request is refused. Fencing tokens of
	 * readers are larger than those of all earlier writers. When readers of one instance
	 * follow each other without a gap, they share one token from the 4096th on.
	 */
	READ,

	/**
	 * The same as {@link #EXCLUSIVE}, as the counterpart of {@link #READ}. Its owner may
	 * acquire the lock in mode {@link #READ} as well, and excludes all other owners until
	 * both leases are released.
	 */
	WRITE

}
