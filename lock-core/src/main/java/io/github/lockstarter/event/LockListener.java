// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.event;

/**
 * Callback for beans that want to know what happens to locks.
 *
 * <p>
 * It is called on the thread on which the event happens, or on one thread for all that
 * the watchdog notices, so it should be short. An exception from it is logged and changes
 * nothing for the lock or for other listeners.
 *
 * <p>
 * The release of a lock may be part of the completion of a transaction. A listener that
 * writes to a database needs a transaction of its own then: {@code REQUIRES_NEW}, as
 * after any commit.
 */
@FunctionalInterface
public interface LockListener {

	/**
	 * A listener that does nothing.
	 */
	LockListener NO_OP = (event) -> {
	};

	/**
	 * Take note of an event.
	 * @param event what happened
	 */
	void onEvent(LockEvent event);

}
