// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * What an annotated method does when another owner holds the lock for the whole wait
 * time. The body does not run in any case.
 */
public enum OnContention {

	/**
	 * The {@linkplain LockSettings.ForName setting} of the lock's name, or {@link #THROW}
	 * without one.
	 */
	DEFAULT,

	/**
	 * Throw a {@link LockContendedException}.
	 */
	THROW,

	/**
	 * Skip the body and return {@code null}, an empty {@link java.util.Optional}, a
	 * future of one of these, or an empty publisher. A method that returns a primitive is
	 * refused at startup.
	 */
	SKIP

}
