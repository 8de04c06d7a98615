// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

/**
 * An answer, and how many replicas have confirmed its writes.
 *
 * @param answer the answer of the primary
 * @param replicas how many replicas have confirmed in time
 */
record Replicated<T>(T answer, long replicas) {

}
