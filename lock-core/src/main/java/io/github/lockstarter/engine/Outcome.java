// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * The end of a wait: a hold of the lock, or the reason why the waiter does not acquire
 * it.
 */
interface Outcome {

}
