// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

/**
 * The answer of a store to an attempt to take a lock.
 */
public sealed interface LockAttempt permits LockGrant, LockRefusal {

}
