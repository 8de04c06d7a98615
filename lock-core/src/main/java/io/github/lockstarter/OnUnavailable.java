// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * What an annotated method does when its lock is unavailable, because the store cannot be
 * asked or the application is shutting down. The body runs in neither case.
 */
public enum OnUnavailable {

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
