// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * What an annotated method does when its lock is unavailable, because the store cannot be
 * asked or the application is shutting down. The body does not run in any case.
 */
public enum OnUnavailable {

	/**
	 * The {@linkplain LockSettings.ForName setting} of the lock's name, or {@link #THROW}
	 * without one.
	 */
	DEFAULT,

	/**
	 * Throw a {@link LockUnavailableException}.
	 */
	THROW,

	/**
	 * Call the {@link DistributedLock#fallback()}. Another owner may hold the lock at the
	 * same time.
	 */
	FALLBACK

}
