// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * What happens when a lease is lost while the body it protects still runs. In each case
 * the loss is logged and listeners are told.
 */
public enum OnLost {

	/**
	 * Throw a {@link LockLostException} once the body has returned; fail with it once a
	 * future or publisher has ended.
	 */
	THROW,

	/**
	 * Interrupt the thread that runs the body, once and never after it has left the body,
	 * then throw a {@link LockLostException}. A future or publisher is cancelled. Useful
	 * for long bodies.
	 */
	INTERRUPT,

	/**
	 * Carry on and return the body's result. Only for work that does no harm when it runs
	 * twice at once.
	 */
	LOG

}
