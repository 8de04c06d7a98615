// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * The place of one waiter in the line of the store, under its own token. Whatever the
 * order of its requests, the place is given up last.
 */
final class LinePlace {

	private boolean taken;

	private boolean entering;

	private boolean left;

	/**
	 * Note that the store is about to be asked for the place.
	 * @return {@code false} if the waiter has left
	 */
	synchronized boolean beginEntering() {
		this.entering = !this.left;
		return this.entering;
	}

	/**
	 * Note that the store was asked for the place and may have granted it.
	 * @return whether the waiter has left in the meantime, so that the place must be
	 * given up now
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
	 * @return whether the place must be given up now
	 */
	synchronized boolean leave() {
		boolean now = this.taken && !this.entering && !this.left;
		this.left = true;
		return now;
	}

}
