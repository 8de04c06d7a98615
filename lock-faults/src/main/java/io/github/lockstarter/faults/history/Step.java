// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.history;

/**
 * An action or observation of a worker thread.
 */
public enum Step {

	/** About to request the lock. */
	ASK,

	/**
	 * The time at which the wait must end: at the end of its wait time, or when it was
	 * interrupted.
	 */
	DUE,

	/** The lock was granted. */
	GRANTED,

	/** Another owner held the lock. */
	REFUSED,

	/** It is unknown whether the lock was granted. */
	UNKNOWN,

	/** The lock was held at this moment, as far as the holder can know. */
	HELD,

	/** The holder knows that it has lost the lock. */
	LOST,

	/** About to write to the counter that checks fencing tokens. */
	WRITING,

	/** That counter has accepted the write. */
	WROTE,

	/** That counter has refused the write. */
	FENCED,

	/** The transaction was rolled back because the lock was lost. */
	TRANSACTION_REFUSED,

	/** The transaction has failed for another reason, or its outcome is unknown. */
	TRANSACTION_FAILED,

	/** The unprotected counter was written. */
	WROTE_PLAIN,

	/** About to release the lock. */
	GIVE,

	/** The lock was released. */
	GAVE

}
