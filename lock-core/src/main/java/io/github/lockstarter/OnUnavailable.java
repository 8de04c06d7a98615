// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * What an annotated method does when its lock cannot be asked for, because the store does
 * not answer or the application is shutting down. The body runs in neither case.
 */
public enum OnUnavailable {

	/**
	 * Throw a {@link LockUnavailableException}.
	 */
	THROW,

	/**
	 * Call the {@link DistributedLock#fallback()}. Somebody else may hold the lock at the
	 * same time.
	 */
	FALLBACK

}
