// SPDX-License-Identifier: Apache-2.0

/**
 * Runs our locks and those of others side by side, and reports.
 */
package io.github.lockstarter.benchmarks;
