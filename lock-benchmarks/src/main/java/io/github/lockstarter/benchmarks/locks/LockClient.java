// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

/**
 * One client of a lock service. Locks belong to the calling thread.
 */
public interface LockClient extends AutoCloseable {

	/**
	 * Acquire a lock, and wait without limit.
	 * @param key the lock
	 * @return releases the lock
	 */
	Runnable lock(String key);

	@Override
	void close();

}
