// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

/**
 * What a caller finds when it is its turn: the lock itself, handed on by the one before,
 * or the task to deal with the store.
 */
sealed interface Turn permits Hold, StoreTurn {

}
