// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

/**
 * What happens while a fault lasts.
 */
interface Work {

	/**
	 * Do it.
	 * @throws Exception if it failed
	 */
	void run() throws Exception;

}
