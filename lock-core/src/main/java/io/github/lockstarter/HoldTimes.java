// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * How long the locks of a request stay taken after their grant if the body succeeds.
 */
record HoldTimes(Map<LockKey, Duration> byLock) {

	static HoldTimes of(LockRequest request) {
		if (request.others().isEmpty()) {
			return new HoldTimes(
					(request.holdAtLeast() != null) ? Map.of(request.key(), request.holdAtLeast()) : Map.of());
		}
		Map<LockKey, Duration> byLock = new HashMap<>();
		for (LockRequest each : request.all()) {
			if (each.holdAtLeast() != null) {
				byLock.merge(each.key(), each.holdAtLeast(), (one, other) -> (one.compareTo(other) > 0) ? one : other);
			}
		}
		return new HoldTimes(byLock);
	}

	boolean isEmpty() {
		return this.byLock.isEmpty();
	}

	/**
	 * Apply them to a lease that is about to be closed.
	 */
	void apply(Lease lease, boolean successful) {
		if (isEmpty()) {
			return;
		}
		for (Lease each : lease.all()) {
			Duration time = this.byLock.get(each.key());
			if (time != null) {
				each.holdAtLeast(successful ? time : Duration.ZERO);
			}
		}
	}

}
