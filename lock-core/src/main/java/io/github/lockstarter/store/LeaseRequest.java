// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.time.Duration;

import io.github.lockstarter.LockKey;

/**
 * A request for a lease, or to extend a lease to its full length from now on.
 *
 * @param key the lock
 * @param owner the owner that asks
 * @param leaseTime length of the lease; zero to extend nothing, and only check whether
 * the owner holds the lock
 */
public record LeaseRequest(LockKey key, OwnerToken owner, Duration leaseTime) {

}
