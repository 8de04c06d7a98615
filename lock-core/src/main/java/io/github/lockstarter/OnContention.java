// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * What an annotated method does when somebody else holds the lock for the whole wait
 * time. The body runs in neither case.
 */
public enum OnContention {

	/**
	 * Throw a {@link LockContendedException}.
	 */
	THROW,

	/**
	 * Return without running the body: {@code null}, an empty {@link java.util.Optional},
	 * a future of these, an empty publisher, or nothing from a {@code void} method. A
	 * method that returns a primitive is refused at startup.
	 */
	SKIP

}
