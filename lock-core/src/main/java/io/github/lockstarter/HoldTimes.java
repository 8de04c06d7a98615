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
	 * Return the request for a registry, which does not know whether a body succeeds.
	 */
	@SuppressWarnings("unchecked")
	<L extends LeaseSet> AnyLockRequest<L> without(AnyLockRequest<L> request) {
		if (this.kept.isEmpty()) {
			return request;
		}
		return (AnyLockRequest<L>) ((request instanceof LockRequest one) ? one.withoutHoldAtLeast()
				: ((LockSetRequest) request).withoutHoldAtLeast());
	}

	/**
	 * Apply the times to new leases, and close the leases if the store cannot keep locks.
	 * @throws IllegalArgumentException if the store cannot keep locks
	 */
	void begin(LeaseSet lease) {
		try {
			apply(lease, true);
		}
		catch (RuntimeException ex) {
			lease.closeAsync();
			throw ex;
		}
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
