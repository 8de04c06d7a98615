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
	 * The lock is free, and another JVM in the line was notified. If this JVM asked for a
	 * place, it now stands in the line behind that JVM.
	 */
	RELEASED_TO_WAITER,

	/**
	 * The owner did not hold the lock, and nothing was changed.
	 */
	NOT_OWNER

}
