// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import io.github.lockstarter.LockKey;

/**
 * Callback for the messages of a {@link WaitingLine}. It is called on a thread of the
 * store's driver and must not block.
 */
public interface ReleaseListener {

	/**
	 * A lock was released, and it is the turn of this JVM to ask for it.
	 * @param key which lock
	 */
	void onRelease(LockKey key);

	/**
	 * Messages may have been missed: every waiter should ask again.
	 */
	void onDoubt();

}
