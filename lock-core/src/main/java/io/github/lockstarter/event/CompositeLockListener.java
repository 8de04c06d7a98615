// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.event;

import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Passes events on to several listeners, and keeps their failures from the lock and from
 * each other.
 */
public final class CompositeLockListener implements LockListener {

	private static final Log logger = LogFactory.getLog(CompositeLockListener.class);

	private final List<LockListener> listeners;

	public CompositeLockListener(List<? extends LockListener> listeners) {
		this.listeners = List.copyOf(listeners);
	}

	@Override
	public void onEvent(LockEvent event) {
		for (LockListener listener : this.listeners) {
			try {
				listener.onEvent(event);
			}
			catch (Throwable ex) {
				// An error that got past here would leave a lock taken that nobody has a
				// lease of. The listener may be a proxy whose toString() fails as well
				logger.warn("Listener " + listener.getClass().getName() + " failed on " + event
						+ "; the lock is not affected", ex);
			}
		}
	}

}
