// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

/**
 * The time for which two owners may believe that they hold the same lock.
 */
public enum Exclusion {

	/** Never: the assumptions of a lease hold. */
	ALWAYS,

	/** Until the next renewal tells the first owner that the store has lost its lock. */
	UNTIL_NOTICED,

	/** The same, but never if replicas have confirmed each grant. */
	UNLESS_CONFIRMED

}
