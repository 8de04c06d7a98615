// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.Executor;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.backend.LockBackend;

/**
 * Keeps this JVM's places in the queues of the store in step with its own waiters: where
 * the last one leaves, the place is given up.
 */
final class StoreQueue {

	private static final Log logger = LogFactory.getLog(StoreQueue.class);

	private final LockBackend backend;

	private final Executor store;

	StoreQueue(LockBackend backend, Executor store) {
		this.backend = backend;
		this.store = store;
	}

	/**
	 * End a turn.
	 * @param entry the lock
	 * @param queued whether this JVM may stand in the queue of the store
	 * @param next what the next waiter finds
	 */
	void passOn(LocalEntry entry, boolean queued, Turn next) {
		if (!queued) {
			entry.passOnOrEnd();
		}
		else if (!entry.passOn(next)) {
			// The turn ends after the withdrawal, so that it cannot undo a newcomer's
			// place
			this.store.execute(() -> {
				withdraw(entry.key());
				entry.passOnOrEnd();
			});
		}
	}

	/**
	 * Pass on a message for a lock that nobody waits for here.
	 */
	void decline(LockKey key) {
		this.store.execute(() -> withdraw(key));
	}

	private void withdraw(LockKey key) {
		try {
			this.backend.withdraw(key);
		}
		catch (RuntimeException ex) {
			logger.debug("Could not leave the queue of lock '" + key + "'; its place expires", ex);
		}
	}

}
