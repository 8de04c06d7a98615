// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.backend;

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
	 * Make sure that messages reach the listener from now on. Called before each attempt
	 * that may wait, always with the same listener, so it must be cheap once connected.
	 * @param listener what to call
	 * @return whether messages arrive; if not, waiters have to poll
	 */
	boolean connect(ReleaseListener listener);

}
