// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.history;

/**
 * Something that a thread of a worker has done or seen.
 */
public enum Step {

	/** About to ask for the lock. */
	ASK,

	/**
	 * When the wait has to be over: at the end of its wait time, or when it was
	 * interrupted.
	 */
	DUE,

	/** The lock was granted. */
	GRANTED,

	/** Somebody else held the lock. */
	REFUSED,

	/** Nobody knows whether the lock was granted. */
	UNKNOWN,

	/** The lock was held at this moment, as far as the holder can know. */
	HELD,

	/** The holder knows that it has lost the lock. */
	LOST,

	/** About to write to the counter that checks fencing tokens. */
	WRITING,

	/** That counter has taken the write. */
	WROTE,

	/** That counter has refused the write. */
	FENCED,

	/** The counter without protection has taken a write. */
	WROTE_PLAIN,

	/** About to give the lock back. */
	GIVE,

	/** The lock was given back. */
	GAVE

}
