// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

/**
 * Exception thrown when a store other than the default one cannot be created. It tells
 * what names the store; its cause is what failed.
 */
public class LockStoreCreationException extends IllegalStateException {

	private final String store;

	/**
	 * Create an exception.
	 * @param subject what names the store, as the beginning of a sentence such as "Lock
	 * 'stock' is requested in"
	 * @param store the name of the store
	 * @param cause what failed
	 */
	public LockStoreCreationException(String subject, String store, RuntimeException cause) {
		super(subject + " the store '" + store + "', which cannot be created", cause);
		this.store = store;
	}

	/**
	 * Return the name of the store.
	 */
	public String getStore() {
		return this.store;
	}

}
