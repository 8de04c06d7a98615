// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.CannotAcquireLockException;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.store.RowKey;

/**
 * What the claims of all kinds of transactions have in common.
 */
final class Claims {

	static final String TASK = "claim of a fencing token";

	/** MariaDB and H2: another transaction has changed the row since the snapshot. */
	private static final Set<Integer> CHANGED = Set.of(1020, 90131);

	private Claims() {
	}

	/**
	 * Return the key of the row in which the token of a lease is claimed.
	 */
	static String keyOf(Lease lease) {
		return RowKey.of(lease.store() + '/', lease.key());
	}

	static LockLostException refusal(Lease lease) {
		return new LockLostException(lease.key(), lease.fencingToken(),
				"a later owner has claimed the lock in the database, so this transaction was refused and has written"
						+ " nothing");
	}

	/**
	 * Return the exception for an error of the database that means that the transaction
	 * came too early, or {@code null} if the error means something else.
	 */
	static @Nullable CannotAcquireLockException conflict(int errorCode, Exception error) {
		return CHANGED.contains(errorCode) ? new CannotAcquireLockException(TASK
				+ ": the transaction began before another owner's claim. Acquire the lock first; " + error.getMessage(),
				error) : null;
	}

}
