// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

/**
 * The terms on which a body runs under its lock.
 *
 * @param onLost the reaction to the loss of the lock
 * @param holdTimes how long the locks are kept
 */
record BodyTerms(OnLost onLost, HoldTimes holdTimes) {

	/**
	 * Return the terms of a request.
	 */
	static BodyTerms of(AnyLockRequest<?> request, OnLost onLost) {
		return new BodyTerms(onLost, HoldTimes.of(request));
	}

}
