// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockLostException;

/**
 * How a hold ended, and the callbacks for its loss. Changed under its own monitor,
 * because owners use it at any time.
 */
final class HoldEnding {

	private volatile State state = State.HELD;

	private volatile @Nullable String lossReason;

	private boolean published;

	private List<Callback> callbacks = Collections.emptyList();

	boolean isOver() {
		return this.state != State.HELD;
	}

	/**
	 * Return whether the lock is kept after the hold.
	 */
	boolean isKept() {
		return this.state == State.KEPT;
	}

	boolean isLost() {
		return this.state == State.LOST;
	}

	/**
	 * Return the reason of the loss, or {@code null} if the lease time was over.
	 */
	@Nullable String lossReason() {
		return this.lossReason;
	}

	/**
	 * End the hold.
	 * @param held whether it has lasted until now; otherwise it is lost
	 * @param kept whether the lock is kept instead of being released
	 */
	synchronized void end(boolean held, boolean kept) {
		this.state = !held ? State.LOST : kept ? State.KEPT : State.RELEASED;
	}

	/**
	 * Return whether the caller must publish that the hold has ended without a loss.
	 * Several threads may exit the hold at once, but only one of them publishes that.
	 */
	synchronized boolean beginPublishing() {
		boolean due = (this.state == State.RELEASED || isKept()) && !this.published;
		this.published |= due;
		return due;
	}

	/**
	 * Publish nothing more, because the failure of the release is published.
	 */
	synchronized void releaseFailed() {
		this.published = true;
	}

	/**
	 * End the hold as lost, even if it seemed to be released.
	 * @param reason the reason, or {@code null} if its lease time was over
	 * @return {@code false} if the loss was already known
	 */
	synchronized boolean lose(@Nullable String reason) {
		if (isLost()) {
			return false;
		}
		this.lossReason = reason;
		this.state = State.LOST;
		return true;
	}

	/**
	 * Keep a callback for the loss.
	 * @param lease whose callback it is
	 * @param context the context that the callback is called with
	 * @return {@code false} if the hold is already lost and the callback must be called
	 * at once
	 */
	synchronized boolean onLost(Object lease, Consumer<LockLostException> callback, CallContext context) {
		if (isLost()) {
			return false;
		}
		if (this.callbacks.isEmpty()) {
			this.callbacks = new ArrayList<>();
		}
		return this.callbacks.add(new Callback(lease, callback, context));
	}

	/**
	 * Forget the callbacks of a lease that is closed.
	 */
	synchronized void forgetCallbacks(Object lease) {
		this.callbacks.removeIf((callback) -> callback.lease == lease);
	}

	/**
	 * Return the callbacks to call after the loss.
	 */
	synchronized List<Callback> callbacks() {
		return List.copyOf(this.callbacks);
	}

	record Callback(Object lease, Consumer<LockLostException> action, CallContext context) {
	}

	private enum State {

		HELD, RELEASED, KEPT, LOST

	}

}
