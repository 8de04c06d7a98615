// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import io.github.lockstarter.LockMode;

/**
 * How this JVM wants to stand in the {@linkplain WaitingLine waiting line} of a lock
 * after a request.
 */
public enum Place {

	/**
	 * The places of this JVM stay as they are.
	 */
	NONE,

	/**
	 * One place for all waiters of this JVM, the next of which wants the lock
	 * exclusively.
	 */
	EXCLUSIVE,

	/**
	 * One place for all waiters of this JVM, the next of which shares the lock.
	 */
	SHARED,

	/**
	 * A place for each waiter, under its own {@linkplain OwnerToken token}.
	 */
	OWN;

	/**
	 * Return the place of a waiter.
	 * @param mode the mode in which it wants the lock
	 */
	public static Place of(LockMode mode) {
		return switch (mode) {
			case EXCLUSIVE, WRITE -> EXCLUSIVE;
			case READ -> SHARED;
			case FAIR -> OWN;
		};
	}

}
