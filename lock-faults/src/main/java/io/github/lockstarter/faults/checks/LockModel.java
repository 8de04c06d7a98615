// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.checks;

import org.jspecify.annotations.Nullable;

/**
 * A lock as it should be, one operation after another: owner-aware, reentrant if wanted,
 * and fenced if wanted.
 *
 * @param reentrant whether its owner may take it again
 * @param fenced whether each owner needs a larger token than the one before
 */
public record LockModel(boolean reentrant, boolean fenced) {

	/** Nobody holds the lock, and nobody has. */
	static final State FREE = new State(null, 0, 0);

	/**
	 * Do an operation.
	 * @return the state after it, or {@code null} if it cannot happen in that state
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
	 * Who holds the lock.
	 *
	 * @param owner the owner, or {@code null}
	 * @param count how often it was taken
	 * @param token the last token
	 */
	record State(@Nullable String owner, int count, long token) {

	}

}
