// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

/**
 * Exception thrown when the settings of a lock name ask for something that its store
 * cannot do.
 */
public class UnsuitableLockStoreException extends IllegalArgumentException {

	private final String lockName;

	/**
	 * Create an exception.
	 * @param lockName the lock name
	 * @param objection what the store cannot do, as
	 * {@link StoreCapabilities#objection(io.github.lockstarter.LockRequest)} says it
	 */
	public UnsuitableLockStoreException(String lockName, String objection) {
		super("The settings of the lock name '" + lockName + "' do not fit its store: the lock " + objection);
		this.lockName = lockName;
	}

	/**
	 * Return the lock name.
	 */
	public String getLockName() {
		return this.lockName;
	}

}
