// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.github.lockstarter.LockKey;

/**
 * Logs one warning when a store, or one server of it, cannot be asked, independent of the
 * number of failed acquisitions, and one line when it answers again.
 */
final class OutageLog {

	private static final Log logger = LogFactory.getLog(OutageLog.class);

	private final String store;

	private final Function<LockKey, Object> serverOf;

	/**
	 * For each server that cannot be asked, the first lock that was unavailable. A lock
	 * may move to another server, so its server is looked up anew each time.
	 */
	private final Set<LockKey> unanswered = new LinkedHashSet<>();

	private volatile boolean underWay;

	/**
	 * Create a log.
	 * @param store the name of the store
	 * @param serverOf returns the server of a lock, without blocking and without failing
	 */
	OutageLog(String store, Function<LockKey, Object> serverOf) {
		this.store = store;
		this.serverOf = serverOf;
	}

	/**
	 * Note that an acquisition fails because a lock is unavailable.
	 */
	void told(LockKey key, String reason) {
		synchronized (this.unanswered) {
			Object server = this.serverOf.apply(key);
			if (this.unanswered.stream().anyMatch((other) -> isOn(server, other))) {
				return;
			}
			this.unanswered.add(key);
			this.underWay = true;
		}
		logger.warn("Locks are unavailable, as the store '" + this.store + "' cannot be asked: " + reason
				+ " (the first one is '" + key + "'; the next line is logged when the store answers again)");
	}

	/**
	 * Note that the store has answered a request for a lock.
	 */
	void answered(LockKey key) {
		if (this.underWay && isOver(key)) {
			logger.info("The store '" + this.store + "' answers again, for example about lock '" + key + "'");
		}
	}

	private boolean isOver(LockKey key) {
		synchronized (this.unanswered) {
			Object server = this.serverOf.apply(key);
			boolean over = this.unanswered.removeIf((other) -> isOn(server, other));
			this.underWay = !this.unanswered.isEmpty();
			return over;
		}
	}

	private boolean isOn(Object server, LockKey key) {
		return server.equals(this.serverOf.apply(key));
	}

}
