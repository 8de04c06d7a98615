// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;

/**
 * How long the locks of a request are kept after their grant if the body succeeds.
 *
 * @param kept the requests for the locks to keep
 */
record HoldTimes(List<LockRequest> kept) {

	static HoldTimes of(AnyLockRequest<?> request) {
		if (request instanceof LockRequest one && one.holdAtLeast() == null) {
			return new HoldTimes(List.of());
		}
		return new HoldTimes(
				LockSetRequest.requestsOf(request).stream().filter((each) -> each.holdAtLeast() != null).toList());
	}

	/**
	 * Apply the times to leases that are about to be closed.
	 */
	void apply(LeaseSet lease, boolean successful) {
		for (LockRequest each : this.kept) {
			Duration time = each.holdAtLeast();
			lease.get(each.key()).holdAtLeast((successful && time != null) ? time : Duration.ZERO);
		}
	}

}
