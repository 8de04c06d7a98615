// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import org.jspecify.annotations.Nullable;

/**
 * The sequential model of a lock: owner-aware, and optionally reentrant and fenced.
 *
 * @param reentrant whether its owner may acquire it again
 * @param fenced whether each owner needs a larger token than the previous one
 */
public record LockModel(boolean reentrant, boolean fenced) {

	/** No owner holds the lock or has held it. */
	static final State FREE = new State(null, 0, 0);

	/**
	 * Apply an operation.
	 * @return the next state, or {@code null} if the operation is impossible in this
	 * state
	 */
	@Nullable State step(State state, Operation operation) {
		return operation.acquires() ? acquire(state, operation) : release(state, operation);
	}

	private @Nullable State acquire(State state, Operation operation) {
		if (state.owner() == null) {
			boolean accepted = !this.fenced || operation.token() > state.token();
			return accepted ? new State(operation.owner(), 1, operation.token()) : null;
		}
		boolean accepted = this.reentrant && state.owner().equals(operation.owner())
				&& (!this.fenced || operation.token() == state.token());
		return accepted ? new State(state.owner(), state.count() + 1, state.token()) : null;
	}

	private @Nullable State release(State state, Operation operation) {
		if (!operation.owner().equals(state.owner())) {
			return null;
		}
		return new State((state.count() > 1) ? state.owner() : null, state.count() - 1, state.token());
	}

	/**
	 * The holder of the lock.
	 *
	 * @param owner the owner, or {@code null}
	 * @param count the number of nested acquisitions
	 * @param token the last token
	 */
	record State(@Nullable String owner, int count, long token) {

		/**
		 * Return whether an operation has acquired the lock for its present holder.
		 */
		boolean isHeldBy(Operation acquisition) {
			return acquisition.owner().equals(this.owner) && acquisition.token() == this.token;
		}

	}

}
