// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

/**
 * The answer of a store to a release.
 */
public enum ReleaseOutcome {

	/**
	 * The lock is free.
	 */
	RELEASED,

	/**
	 * The lock is free, and a waiting JVM was told; if it asked for a place, this JVM is
	 * now in the line behind it.
	 */
	RELEASED_TO_WAITER,

	/**
	 * The owner did not hold the lock. Nothing was changed.
	 */
	NOT_OWNER

}
