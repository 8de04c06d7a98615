// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * A time in which the store has answered no question about a lock.
 *
 * @param since when the first of these questions was asked, on the clock of the engine
 * @param cause what became of the last one
 */
record Outage(long since, RuntimeException cause) {
}
