// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import io.github.lockstarter.store.OwnerToken;

/**
 * The place of one waiter in the line of the store, under its own token. Whatever the
 * order of its requests, the place is given up last.
 */
final class LinePlace {

	private final OwnerToken token;

	private boolean taken;

	private boolean entering;

	private boolean asked;

	/** Whether the request for the place may reach the store after that for the lock. */
	private boolean overtaken;

	private boolean left;

	LinePlace(OwnerToken token) {
		this.token = token;
	}

	/**
	 * Return the token under which the waiter stands there.
	 */
	OwnerToken token() {
		return this.token;
	}

	/**
	 * Note that the store is about to be asked for the place.
	 * @return {@code false} if the waiter has left, the request for the lock takes the
	 * place, or the store is being asked already
	 */
	synchronized boolean beginEntering() {
		if (this.left || this.asked || this.entering) {
			return false;
		}
		this.entering = true;
		return true;
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
	 * Note that the store is about to be asked for the lock.
	 * @param inLine whether the request may also take the place
	 */
	synchronized void ask(boolean inLine) {
		this.asked = true;
		this.overtaken = this.entering;
		this.taken |= inLine;
	}

	/**
	 * Note that the waiter leaves.
	 * @param granted whether the store has granted it the lock, and removed the place
	 * that it had then
	 * @return whether the place must be given up now
	 */
	synchronized boolean leave(boolean granted) {
		boolean now = this.taken && !this.entering && !this.left && (!granted || this.overtaken);
		this.left = true;
		return now;
	}

	/**
	 * Return whether a request that was refused only now may have taken the place anew.
	 */
	synchronized boolean hasLeft() {
		return this.left;
	}

}
