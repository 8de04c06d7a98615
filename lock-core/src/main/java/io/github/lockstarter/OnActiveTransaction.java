// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * What happens when a lock is acquired while a transaction is already active on the
 * thread. The transaction commits after the body returns, so an owner that acquires the
 * lock in between would not see what the body has written.
 */
public enum OnActiveTransaction {

	/**
	 * The same as {@link #DEFER}, and a warning, once for each lock name: what the
	 * transaction has read before may be stale.
	 */
	DEFAULT,

	/**
	 * Release the lock when the transaction is completed. Until then the lease is
	 * renewed, and it is checked before the commit.
	 */
	DEFER,

	/**
	 * Throw an {@link IllegalStateException} and do not acquire the lock.
	 */
	FAIL,

	/**
	 * Release the lock when the body returns, before the commit. A warning is logged.
	 */
	RELEASE_ON_RETURN

}
