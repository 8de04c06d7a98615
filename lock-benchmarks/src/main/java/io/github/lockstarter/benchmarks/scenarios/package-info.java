// SPDX-License-Identifier: Apache-2.0

/**
 * What is measured.
 */
package io.github.lockstarter.benchmarks.scenarios;
