// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * What a caller finds when it becomes the one of this JVM that deals with the store.
 */
enum StoreTurn implements Turn {

	/**
	 * The lock may be free: ask the store at once.
	 */
	ASK,

	/**
	 * Another JVM was told that the lock is free, and this one stands in the queue behind
	 * it: wait to be told before asking.
	 */
	AWAIT,

	/**
	 * The registry is shutting down.
	 */
	REFUSED

}
