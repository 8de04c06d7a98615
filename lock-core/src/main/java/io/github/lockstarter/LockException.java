// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import org.jspecify.annotations.Nullable;

/**
 * Base of the exceptions of a lock. Its subclasses keep apart what calls for different
 * reactions: somebody else holds the lock, the store cannot be asked, the wait was
 * interrupted, the lock was lost.
 */
public abstract class LockException extends RuntimeException {

	private final LockKey key;

	protected LockException(LockKey key, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.key = key;
	}

	/**
	 * Return which lock it is about.
	 */
	public LockKey getKey() {
		return this.key;
	}

}
