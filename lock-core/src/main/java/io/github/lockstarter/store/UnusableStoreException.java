// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import org.jspecify.annotations.Nullable;

/**
 * Failure of a {@link LockStore} that has refused a command and will refuse it again.
 * Waiting does not help: the configuration must be changed. A part of the operation may
 * have been carried out.
 */
public class UnusableStoreException extends RuntimeException {

	/**
	 * Create an exception.
	 * @param message what to change
	 * @param cause the answer of the store, or {@code null}
	 */
	public UnusableStoreException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
