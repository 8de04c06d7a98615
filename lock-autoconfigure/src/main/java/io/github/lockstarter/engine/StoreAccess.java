// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.function.BooleanSupplier;

import io.github.lockstarter.backend.LockBackend;
import io.github.lockstarter.backend.ReleaseListener;

/**
 * What a {@link StoreVisit} needs of its registry.
 *
 * @param backend the store
 * @param settings how long to wait
 * @param timetable the clock
 * @param returns for requests whose outcome is not known
 * @param queue this JVM's places in the queues of the store
 * @param listener for messages about released locks
 * @param refusing whether the registry is shutting down
 */
record StoreAccess(LockBackend backend, EngineSettings settings, Timetable timetable, LeaseReturns returns,
		StoreQueue queue, ReleaseListener listener, BooleanSupplier refusing) {

	long now() {
		return this.timetable.now();
	}

	boolean isRefusing() {
		return this.refusing.getAsBoolean();
	}

	/**
	 * Make sure that messages arrive.
	 * @return false if they do not, so that asking again is the only way
	 */
	boolean listen() {
		return this.backend.releaseSignal().connect(this.listener);
	}

}
