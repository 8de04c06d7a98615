// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import io.github.lockstarter.faults.history.Attempt;

/**
 * One operation on a lock, which took effect at one moment between its begin and its end.
 *
 * @param attempt what it is a part of
 * @param owner whose it is
 * @param acquires whether it takes the lock, or gives it back
 * @param token the fencing token
 * @param begin when it began
 * @param end when it was over; {@link Attempt#NEVER} if nobody knows, and it may not have
 * happened at all
 */
record Operation(Attempt attempt, String owner, boolean acquires, long token, long begin, long end) {

	boolean isOpen() {
		return this.end == Attempt.NEVER;
	}

}
