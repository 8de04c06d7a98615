// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;

/**
 * Exception thrown when another owner held a lock for the whole wait time. The body did
 * not run; trying again later is reasonable.
 */
public class LockContendedException extends LockException {

	private final Duration waited;

	public LockContendedException(LockKey key, Duration waited) {
		super(key, "Lock '" + key + "' is held by another owner and did not become free within " + waited.toMillis()
				+ " ms; nothing was executed", null);
		this.waited = waited;
	}

	/**
	 * Return how long the caller waited for the lock.
	 */
	public Duration getWaited() {
		return this.waited;
	}

}
