// SPDX-License-Identifier: Apache-2.0

/**
 * The processes of a measurement: the servers that keep locks, and the JVMs that acquire
 * them.
 */
package io.github.lockstarter.benchmarks.servers;
