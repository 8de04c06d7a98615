// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * The servers of a {@link LockStore}. A server that does not answer does not delay
 * requests to the others.
 */
public interface StoreServers {

	/**
	 * One server for all locks.
	 */
	StoreServers ONE = (key) -> "";

	/**
	 * Return an object that stands for the server of a lock. Must not block; if the
	 * server is not known, guess until the next {@linkplain #lookup() look-up}.
	 * @param key the lock
	 * @return something with {@code equals} and {@code hashCode}
	 */
	Object of(LockKey key);

	/**
	 * Return a task that looks up the servers of all locks. It is run now and then on a
	 * thread that may block, and may fail.
	 * @return the look-up, or {@code null} if there is nothing to look up
	 */
	default @Nullable Runnable lookup() {
		return null;
	}

}
