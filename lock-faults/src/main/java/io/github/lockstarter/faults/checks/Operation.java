// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import io.github.lockstarter.faults.history.Attempt;

/**
 * One operation on a lock, which took effect at one moment between its beginning and its
 * end.
 *
 * @param attempt the attempt that it belongs to
 * @param owner the owner
 * @param acquires whether it acquires the lock or releases it
 * @param token the fencing token
 * @param begin the time of its beginning
 * @param end the time of its end, or {@link Attempt#NEVER} if it is unknown whether the
 * operation took effect
 */
record Operation(Attempt attempt, String owner, boolean acquires, long token, long begin, long end) {

	boolean isOpen() {
		return this.end == Attempt.NEVER;
	}

}
