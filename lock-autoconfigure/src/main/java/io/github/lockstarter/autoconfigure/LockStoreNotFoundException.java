// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

/**
 * Exception thrown at startup when nothing can keep the locks.
 */
class LockStoreNotFoundException extends IllegalStateException {

	private final String remedy;

	/**
	 * Create an exception.
	 * @param problem what is missing
	 * @param remedy what to do about it to lock across instances
	 */
	LockStoreNotFoundException(String problem, String remedy) {
		super(problem);
		this.remedy = remedy;
	}

	String getRemedy() {
		return this.remedy;
	}

}
