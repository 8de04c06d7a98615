// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * How a lock is shared.
 */
public enum LockMode {

	/**
	 * One owner at a time.
	 */
	EXCLUSIVE,

	/**
	 * One owner at a time, served in the order of arrival across all instances. Not
	 * available yet: refused at startup.
	 */
	FAIR,

	/**
	 * Shared with other readers, excluded by a writer. Not available yet: refused at
	 * startup.
	 */
	READ,

	/**
	 * One owner at a time, excluding the readers as well. Not available yet: refused at
	 * startup.
	 */
	WRITE

}
