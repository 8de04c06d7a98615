// SPDX-License-Identifier: Apache-2.0

/**
 * Compares our locks with those of others, and reports the results.
 */
package io.github.lockstarter.benchmarks;
