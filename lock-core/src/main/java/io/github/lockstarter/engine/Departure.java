// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * What is left to do for somebody who has left a level of a hold.
 */
enum Departure {

	/**
	 * Nothing: there are outer levels, or the lock was lost before.
	 */
	DONE,

	/**
	 * Nothing but to tell of it: others of this JVM hold the lock as well.
	 */
	LEFT,

	/**
	 * Nothing but to tell of it: the next caller of this JVM holds the lock now.
	 */
	HANDED_ON,

	/**
	 * To ask whether another JVM waits, before the next caller of this one holds the
	 * lock.
	 */
	ASK_FIRST,

	/**
	 * To let the lock stay taken in the store for a while, and to pass the turn on.
	 */
	KEEP,

	/**
	 * To give the lock back to the store, and then to pass the turn on.
	 */
	GIVE_BACK

}
