// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

/**
 * Exception thrown at startup when there is no store for the locks.
 */
class LockStoreNotFoundException extends IllegalStateException {

	private final String remedy;

	/**
	 * Create an exception.
	 * @param problem what is missing
	 * @param remedy the change that makes locks work across instances
	 */
	LockStoreNotFoundException(String problem, String remedy) {
		super(problem);
		this.remedy = remedy;
	}

	String getRemedy() {
		return this.remedy;
	}

}
