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
			catch (Exception | LinkageError ex) {
				logger.warn("Listener " + listener + " failed on " + event + "; the lock is not affected", ex);
			}
		}
	}

}
