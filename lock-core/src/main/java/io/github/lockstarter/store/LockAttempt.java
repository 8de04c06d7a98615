// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

/**
 * The answer of a store to a request for a lock.
 */
public sealed interface LockAttempt permits LockGrant, LockRefusal {

}
