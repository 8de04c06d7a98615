// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Exception thrown when a lock cannot be acquired because the store cannot be asked or
 * the registry is shutting down. The body did not run. This is an outage, not contention:
 * it is not known whether another owner holds the lock.
 */
public class LockUnavailableException extends LockException {

	/**
	 * Create an exception.
	 * @param key which lock
	 * @param reason why it cannot be acquired, completing "is unavailable: …"
	 * @param cause the failure of the store, or {@code null}
	 */
	public LockUnavailableException(LockKey key, String reason, @Nullable Throwable cause) {
		super(key, "Lock '" + key + "' is unavailable: " + reason + "; nothing was executed", cause);
	}

}
