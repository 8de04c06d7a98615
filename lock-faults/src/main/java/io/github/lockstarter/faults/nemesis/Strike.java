// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

/**
 * A fault, from its beginning to its repair.
 */
interface Strike {

	/**
	 * Cause the fault, and repair it.
	 * @throws Exception if the fault could not be caused
	 */
	void run(Attack attack) throws Exception;

}
