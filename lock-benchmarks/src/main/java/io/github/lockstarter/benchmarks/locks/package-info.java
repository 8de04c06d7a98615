// SPDX-License-Identifier: Apache-2.0

/**
 * The locks that are compared.
 */
package io.github.lockstarter.benchmarks.locks;
