// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import io.github.lockstarter.FencedLease;
import io.github.lockstarter.LockMode;

/**
 * What a transaction has claimed for a lock.
 *
 * @param token the fencing token
 * @param exclusive whether all other transactions with a claim of the lock wait, or only
 * those that claim exclusively
 */
record FenceClaim(long token, boolean exclusive) {

	static FenceClaim of(FencedLease fenced) {
		return new FenceClaim(fenced.lease().fencingToken(), !fenced.shared() && !isReader(fenced));
	}

	static boolean isReader(FencedLease fenced) {
		return fenced.lease().mode() == LockMode.READ;
	}

	/**
	 * Return whether a transaction under a lease needs no other claim.
	 */
	boolean covers(FencedLease fenced) {
		return this.exclusive || isReader(fenced) || this.token == fenced.lease().fencingToken();
	}

}
