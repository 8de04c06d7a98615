// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import org.jspecify.annotations.Nullable;

/**
 * A caller in the local queue of a lock, waiting for its turn.
 */
final class LocalWaiter {

	private final Caller caller;

	private volatile @Nullable Turn turn;

	LocalWaiter(Caller caller) {
		this.caller = caller;
	}

	Caller caller() {
		return this.caller;
	}

	/**
	 * Wait for the turn, on the caller's own thread.
	 * @return the turn, or {@code null} when the caller ran out of time or was
	 * interrupted before it came
	 */
	@Nullable Turn await() {
		while (this.turn == null && !this.caller.isInterrupted() && !this.caller.isOutOfTime()) {
			this.caller.park(this, Long.MAX_VALUE);
		}
		return this.turn;
	}

	@Nullable Turn turn() {
		return this.turn;
	}

	/**
	 * Give it the turn; it still has to be {@linkplain #wake() woken}.
	 */
	void give(Turn turn) {
		this.turn = turn;
	}

	void wake() {
		this.caller.wake(this);
	}

}
