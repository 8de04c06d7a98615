// SPDX-License-Identifier: Apache-2.0

/**
 * The measured scenarios.
 */
package io.github.lockstarter.benchmarks.scenarios;
