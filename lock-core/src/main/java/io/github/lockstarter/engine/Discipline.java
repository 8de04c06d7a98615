// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import io.github.lockstarter.LockMode;

/**
 * How owners share a lock and wait for it: the two questions of the engine about a mode.
 */
enum Discipline {

	/** One owner at a time, with hand-off inside this JVM. */
	EXCLUSIVE,

	/** Several shared owners at a time. */
	SHARED,

	/** One owner at a time, first in first out across all JVMs. */
	FIFO;

	static Discipline of(LockMode mode) {
		return switch (mode) {
			case EXCLUSIVE, WRITE -> EXCLUSIVE;
			case READ -> SHARED;
			case FAIR -> FIFO;
		};
	}

	/**
	 * Return whether an owner may join the holders of the lock.
	 */
	boolean joinsHolders() {
		return this == SHARED;
	}

	/**
	 * Return whether each waiter stands in the line of the store under its own token, and
	 * not as part of its JVM.
	 */
	boolean standsInLineItself() {
		return this == FIFO;
	}

}
