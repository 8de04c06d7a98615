// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * What happens when a lock is taken while a transaction is already active on the thread.
 * The commit then comes after the body has returned: whoever got the lock in between
 * would not see what the body has written.
 */
public enum OnActiveTransaction {

	/**
	 * What {@code distributed-lock.on-active-transaction} says, else {@link #DEFER}.
	 */
	DEFAULT,

	/**
	 * Give the lock back when the transaction is completed. Until then the lease is
	 * renewed, and checked before the commit.
	 */
	DEFER,

	/**
	 * Refuse to take the lock, with an {@link IllegalStateException}.
	 */
	FAIL,

	/**
	 * Give the lock back when the body returns, before the commit. A warning is logged.
	 */
	RELEASE_ON_RETURN

}
