// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.event;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Passes events on to several listeners, and isolates the lock and the other listeners
 * from the failure of one.
 */
final class CompositeLockListener implements LockListener {

	private static final Log logger = LogFactory.getLog(CompositeLockListener.class);

	private final List<LockListener> listeners;

	/** A listener that fails once may fail on each event. */
	private final Set<Class<?>> failed = ConcurrentHashMap.newKeySet();

	CompositeLockListener(List<? extends LockListener> listeners) {
		this.listeners = List.copyOf(listeners);
	}

	@Override
	public void onEvent(LockEvent event) {
		for (LockListener listener : this.listeners) {
			try {
				listener.onEvent(event);
			}
			catch (Throwable ex) {
				// An error that escaped would leave a held lock without a lease. The
				// class is logged because the toString() of a proxy may fail as well
				String failure = "Listener " + listener.getClass().getName() + " failed on " + event
						+ "; the lock is not affected";
				if (this.failed.add(listener.getClass())) {
					logger.warn(failure + ". Its further failures are logged at DEBUG", ex);
				}
				else {
					logger.debug(failure, ex);
				}
			}
		}
	}

}
