// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

/**
 * Exception thrown by a {@link LockStore} when the store has refused a command and will
 * refuse it again, so that waiting does not help: somebody has to change the
 * configuration. A part of the operation may have been carried out.
 */
public class UnusableStoreException extends RuntimeException {

	/**
	 * Create an exception.
	 * @param message what to change
	 * @param cause what the store answered
	 */
	public UnusableStoreException(String message, Throwable cause) {
		super(message, cause);
	}

}
