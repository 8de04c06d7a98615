// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * Exception thrown when a thread is interrupted while it acquires a lock. The body did
 * not run, and the interrupt flag of the thread is set.
 */
public class LockInterruptedException extends LockException {

	public LockInterruptedException(LockKey key) {
		super(key, "Interrupted while acquiring lock '" + key + "'; nothing was executed", null);
	}

}
