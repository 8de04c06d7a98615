// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

/**
 * Tells waiters that a lock may be free, so that they need not ask all the time. Messages
 * may be lost or come too often; waiters ask now and then in any case.
 */
@FunctionalInterface
public interface ReleaseSignal {

	/**
	 * A signal that never comes, for stores that have none.
	 */
	ReleaseSignal NONE = (listener) -> false;

	/**
	 * Return whether messages reach the listener, and if not, see to it that they will,
	 * without making the caller wait for that. When they begin to arrive, the listener is
	 * told of a doubt, so that waiters ask again and join the queue. Called before each
	 * attempt that may wait, always with the same listener, so it must be cheap.
	 * @param listener what to call
	 * @return whether messages arrive; while they do not, waiters have to poll
	 */
	boolean connect(ReleaseListener listener);

}
