// SPDX-License-Identifier: Apache-2.0

/**
 * The cost of locks inside a JVM, without a server.
 */
package io.github.lockstarter.benchmarks.jmh;
