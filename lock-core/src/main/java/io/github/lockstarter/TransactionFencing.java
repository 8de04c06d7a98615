// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * Whether transactions that run under a lock claim its {@linkplain Lease#fencingToken()
 * fencing token} in their database. A transaction then waits until those of earlier
 * owners have ended, and is refused if a later owner has claimed before it. It claims
 * before it reads anything.
 */
public enum TransactionFencing {

	/**
	 * The value of {@code distributed-lock.fencing.transactions}. Without one,
	 * {@link #ON} for the transactions of the database that keeps the lock, otherwise
	 * {@link #OFF}. The loss of the lock has to matter: with {@link OnLost#LOG}, nothing
	 * is claimed.
	 */
	DEFAULT,

	/**
	 * Claim the token. Each database needs a table for it.
	 */
	ON,

	/**
	 * Claim nothing.
	 */
	OFF

}
