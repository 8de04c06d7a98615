// SPDX-License-Identifier: Apache-2.0

/**
 * What locks cost inside of a JVM, without a server.
 */
package io.github.lockstarter.benchmarks.jmh;
