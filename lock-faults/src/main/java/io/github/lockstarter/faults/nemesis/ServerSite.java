// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

/**
 * Servers that keep their data when they are killed. What happens to them happens to all
 * of them.
 */
interface ServerSite extends Site {

	/**
	 * Kill the servers as {@code kill -9} does.
	 */
	void kill();

	/**
	 * Start the killed servers again, and wait until they serve.
	 */
	void restart();

	/**
	 * Let no process of the servers do anything.
	 */
	void pause();

	/**
	 * Resume the paused servers.
	 */
	void resume();

	/**
	 * Delete all locks.
	 */
	void forget();

}
