// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Exception thrown when it is not known who holds a lock, because the store cannot be
 * asked or the registry is shutting down. The body did not run. This is an outage, not
 * contention.
 */
public class LockUnavailableException extends LockException {

	/**
	 * Create an exception.
	 * @param key which lock
	 * @param reason why it cannot be had, completing "is unavailable: …"
	 * @param cause what the store answered, if anything
	 */
	public LockUnavailableException(LockKey key, String reason, @Nullable Throwable cause) {
		super(key, "Lock '" + key + "' is unavailable: " + reason + "; nothing was executed", cause);
	}

}
