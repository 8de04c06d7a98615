// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

/**
 * Exception thrown when something names a store that does not exist.
 */
public class UnknownLockStoreException extends IllegalArgumentException {

	private final String store;

	/**
	 * Create an exception.
	 * @param subject what names the store, as the beginning of a sentence such as "Lock
	 * 'stock' is requested in"
	 * @param name the name
	 * @param stores the stores that exist
	 */
	public UnknownLockStoreException(String subject, String name, LockStores stores) {
		super(subject + " the store '" + name + "', which does not exist. Stores: " + stores.describe());
		this.store = name;
	}

	/**
	 * Return the name that no store has.
	 */
	public String getStore() {
		return this.store;
	}

}
