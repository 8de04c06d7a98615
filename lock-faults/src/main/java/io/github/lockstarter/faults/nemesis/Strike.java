// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

/**
 * What goes wrong, from its begin until it is mended.
 */
interface Strike {

	/**
	 * Do harm, and mend it.
	 * @throws Exception if the harm could not be done
	 */
	void run(Attack attack) throws Exception;

}
