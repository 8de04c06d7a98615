// SPDX-License-Identifier: Apache-2.0

/**
 * A simulated world, in which the whole engine runs from a seed: one thread at a time,
 * with a network, a server and faults, so that a failure is a number that anybody can
 * replay.
 */
@NullMarked
package io.github.lockstarter.simulation;

import org.jspecify.annotations.NullMarked;
