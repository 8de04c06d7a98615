// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import io.github.lockstarter.LockKey;

/**
 * Checks, as part of a transaction in the database that keeps the locks, that an owner
 * still holds its lock. No other owner can acquire the lock until the transaction has
 * ended, even if its lease expires before that.
 */
@FunctionalInterface
public interface CommitCheck {

	/**
	 * Check a lock when the commit of the current thread's transaction begins. The
	 * transaction may write more after that, as JPA does.
	 * @param key the lock
	 * @param owner the owner on whose behalf the transaction writes
	 * @return whether the owner holds the lock, or the transaction is in another database
	 * @throws RuntimeException if the database cannot tell, so that the transaction must
	 * not commit
	 */
	boolean isHeld(LockKey key, OwnerToken owner);

	/**
	 * Return whether the transaction of the current thread is in the database that keeps
	 * the locks, so that this check applies to its commit.
	 */
	default boolean isInTransaction() {
		return false;
	}

	/**
	 * Return whether transactions on some connections are in the database that keeps the
	 * locks.
	 * @param connections where the transactions get their connections from, such as a
	 * {@code DataSource}
	 */
	default boolean covers(Object connections) {
		return false;
	}

	/**
	 * Look at a lock in the transaction of the current thread, when the transaction has
	 * begun and has read nothing yet. The lock is not kept from other owners: that is for
	 * the commit.
	 * @param key the lock
	 * @param owner the owner on whose behalf the transaction will read and write
	 * @return whether the owner holds the lock
	 * @throws RuntimeException if the database cannot tell
	 */
	default boolean isHeldAtBegin(LockKey key, OwnerToken owner) {
		return isHeld(key, owner);
	}

	/**
	 * Return what sorts the locks of a transaction: the one with the smallest text is
	 * checked first. A store that locks several of its rows at once has to do so in the
	 * same order, so that neither waits for the other.
	 * @param key the lock
	 */
	default String order(LockKey key) {
		return key.text();
	}

}
