// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * A time in which the store has answered no request for a lock.
 *
 * @param since when the first of these requests was sent, on the clock of the engine
 * @param cause the failure of the last one
 */
record Outage(long since, RuntimeException cause) {
}
