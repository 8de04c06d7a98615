// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

/**
 * One client of a lock service. Locks belong to the calling thread.
 */
public interface LockClient extends AutoCloseable {

	/**
	 * Take a lock, waiting as long as it takes.
	 * @param key which lock
	 * @return what gives it back
	 */
	Runnable lock(String key);

	@Override
	void close();

}
