// SPDX-License-Identifier: Apache-2.0

/**
 * The compared locks.
 */
package io.github.lockstarter.benchmarks.locks;
