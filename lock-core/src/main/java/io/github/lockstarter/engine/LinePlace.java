// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * The place of one waiter in the line of the store, under its own name. Whatever the
 * order in which it is taken and given up, it is given up last.
 */
final class LinePlace {

	private boolean taken;

	private boolean entering;

	private boolean left;

	/**
	 * Note that the store is about to be asked for the place.
	 * @return false if the waiter has left
	 */
	synchronized boolean beginEntering() {
		this.entering = !this.left;
		return this.entering;
	}

	/**
	 * Note that the store was asked for the place, which it may have given.
	 * @return whether the waiter has left in the meantime, and the place is to be given
	 * up now
	 */
	synchronized boolean endEntering() {
		this.entering = false;
		this.taken = true;
		return this.left;
	}

	/**
	 * Note that a request for the lock may also take the place.
	 */
	synchronized void take() {
		this.taken = true;
	}

	synchronized boolean isTaken() {
		return this.taken && !this.left;
	}

	/**
	 * Note that the waiter leaves.
	 * @return whether the place is to be given up now
	 */
	synchronized boolean leave() {
		boolean now = this.taken && !this.entering && !this.left;
		this.left = true;
		return now;
	}

	synchronized boolean isEntering() {
		return this.entering;
	}

}
