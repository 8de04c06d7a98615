// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * What a waiter has waited for, one way or the other: a hold of the lock, or the reason
 * why it does not get one.
 */
interface Outcome {

}
