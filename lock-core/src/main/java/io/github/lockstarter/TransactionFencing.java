// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * Whether transactions that run under a lock claim its {@linkplain Lease#fencingToken()
 * fencing token} in their database. A transaction then waits until those of earlier
 * owners have ended, and is refused if a later owner has claimed before it. It claims
 * before it reads anything. If the store keeps the lock in the same database, the
 * transaction does not wait, and that of a late owner is refused at its commit.
 */
public enum TransactionFencing {

	/**
	 * The value of {@code distributed-lock.fencing.transactions}, or {@link #OFF} without
	 * one. The loss of the lock has to matter: with {@link OnLost#LOG}, nothing is
	 * claimed.
	 */
	DEFAULT,

	/**
	 * Claim the token. Each database needs a table for it, except that of a store that
	 * keeps its locks in the same database.
	 */
	ON,

	/**
	 * Claim nothing.
	 */
	OFF

}
