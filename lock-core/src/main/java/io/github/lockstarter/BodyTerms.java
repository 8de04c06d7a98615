// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * The terms on which a body runs under its lock.
 *
 * @param onLost the reaction to the loss of the lock
 * @param holdTimes how long the locks are kept
 * @param scope what the leases mean for transactions
 */
record BodyTerms(OnLost onLost, HoldTimes holdTimes, ScopeTerms scope) {

	/**
	 * Return the terms of a request.
	 */
	static BodyTerms of(AnyLockRequest<?> request, OnLost onLost, TransactionFencing fencing) {
		return new BodyTerms(onLost, HoldTimes.of(request), new ScopeTerms(onLost != OnLost.LOG, fencing));
	}

}
