// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import io.github.lockstarter.LockMode;

/**
 * How an owner shares a lock and waits for it, in the questions that the engine asks.
 */
enum Discipline {

	/** One owner at a time; inside this JVM the lock is handed on. */
	EXCLUSIVE,

	/** Together with others of the same kind. */
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
	 * Return whether an owner may join those of its kind that hold the lock already.
	 */
	boolean joinsHolders() {
		return this == SHARED;
	}

	/**
	 * Return whether an owner may take the lock from another one of its kind without
	 * asking the store.
	 */
	boolean takesHandOff() {
		return this == EXCLUSIVE;
	}

	/**
	 * Return whether each waiter stands in the line of the store under its own name, and
	 * not under that of its JVM.
	 */
	boolean standsInLineItself() {
		return this == FIFO;
	}

	/**
	 * Return whether the lock can be kept for a time after its owner has ended.
	 */
	boolean canBeKept() {
		return this != SHARED;
	}

}
