// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.function.BooleanSupplier;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.ReleaseListener;

/**
 * What a {@link StoreVisit} needs of its registry.
 *
 * @param store the store
 * @param settings how long to wait
 * @param timetable the clock
 * @param returns for requests whose outcome is not known
 * @param queue this JVM's places in the queues of the store
 * @param listener for messages about released locks
 * @param refusing whether the registry is shutting down
 * @param outages where callers that are told of an outage are noted
 */
record StoreAccess(LockStore store, EngineSettings settings, Timetable timetable, LeaseReturns returns,
		StoreQueue queue, ReleaseListener listener, BooleanSupplier refusing, OutageLog outages) {

	long now() {
		return this.timetable.now();
	}

	boolean isRefusing() {
		return this.refusing.getAsBoolean();
	}

	/**
	 * Return what a caller is told if the store could not be asked about a lock.
	 */
	LockUnavailableException unavailable(LockKey key, RuntimeException cause) {
		String reason = RootCause.messageOf(cause);
		this.outages.told(key, reason);
		return new LockUnavailableException(key, "the store could not be asked (" + reason + ")", cause);
	}

	/**
	 * Make sure that messages arrive, without waiting for that.
	 * @return false if they do not yet, so that asking again is the only way
	 */
	boolean listen() {
		return this.store.releaseSignal().connect(this.listener);
	}

}
