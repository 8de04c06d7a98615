// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.event;

import java.util.List;

/**
 * Callback for what happens to locks. Declare a bean of this type to be called.
 *
 * <p>
 * It is called on the thread on which the event happens. All events that the watchdog
 * notices share one thread, so the callback should be short. An exception is logged and
 * affects neither the lock nor other listeners.
 *
 * <p>
 * The release of a lock may be part of the completion of a transaction. A listener that
 * writes to a database then needs a transaction of its own, {@code REQUIRES_NEW}, as
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
	 * Return a listener that passes events on to others. If one of them throws, that is
	 * logged, and the others are called all the same.
	 * @param listeners what to call, in this order
	 */
	static LockListener of(List<? extends LockListener> listeners) {
		return new CompositeLockListener(listeners);
	}

	/**
	 * Handle an event.
	 * @param event what happened
	 */
	void onEvent(LockEvent event);

}
