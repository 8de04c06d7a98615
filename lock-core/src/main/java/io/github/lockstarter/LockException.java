// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Base class of the exceptions of a lock. The subclasses distinguish cases that need
 * different reactions: another owner holds the lock, the store cannot be asked, the wait
 * was interrupted, or the lock was lost.
 */
public abstract class LockException extends RuntimeException {

	private final LockKey key;

	protected LockException(LockKey key, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.key = key;
	}

	/**
	 * Return the lock that this exception is about.
	 */
	public LockKey getKey() {
		return this.key;
	}

}
