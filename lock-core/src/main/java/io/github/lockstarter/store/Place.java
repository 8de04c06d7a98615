// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import io.github.lockstarter.LockMode;

/**
 * The place that this JVM takes in the {@linkplain WaitingLine waiting line} of a lock
 * after a request.
 */
public enum Place {

	/**
	 * No new place: the places of this JVM stay as they are.
	 */
	NONE,

	/**
	 * One place for all waiters of this JVM; the next of them is exclusive.
	 */
	EXCLUSIVE,

	/**
	 * One place for all waiters of this JVM; the next of them is shared.
	 */
	SHARED,

	/**
	 * A place for one waiter, under its own {@linkplain OwnerToken token}.
	 */
	OWN;

	/**
	 * Return the place of a waiter.
	 * @param mode the mode in which the waiter acquires the lock
	 */
	public static Place of(LockMode mode) {
		return switch (mode) {
			case EXCLUSIVE, WRITE -> EXCLUSIVE;
			case READ -> SHARED;
			case FAIR -> OWN;
		};
	}

}
