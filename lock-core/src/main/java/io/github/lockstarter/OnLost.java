// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * What happens when a lock is lost while the body still runs. In each case the loss is
 * logged and published as an event.
 */
public enum OnLost {

	/**
	 * The {@linkplain LockSettings.ForName setting} of the lock's name, or {@link #THROW}
	 * without one.
	 */
	DEFAULT,

	/**
	 * Throw a {@link LockLostException} after the body has returned. A future or
	 * publisher fails with it at its end.
	 */
	THROW,

	/**
	 * Interrupt the thread that runs the body, at most once and never after the end of
	 * the body, and then throw a {@link LockLostException}. A future or publisher is
	 * cancelled. Useful for long bodies.
	 */
	INTERRUPT,

	/**
	 * Continue and return the body's result. Only for work that does no harm when it runs
	 * twice at the same time.
	 */
	LOG

}
