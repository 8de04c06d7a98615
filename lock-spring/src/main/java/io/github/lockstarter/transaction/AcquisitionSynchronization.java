// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import org.springframework.transaction.support.TransactionSynchronization;

/**
 * A synchronization of a transaction that wants to know which locks are acquired inside
 * of it.
 */
interface AcquisitionSynchronization extends TransactionSynchronization {

	/**
	 * Note that the thread of the transaction has acquired locks, before their body
	 * begins.
	 * @throws RuntimeException if the body must not begin
	 */
	void locksAcquired();

}
