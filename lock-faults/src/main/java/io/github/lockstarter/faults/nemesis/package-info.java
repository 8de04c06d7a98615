// SPDX-License-Identifier: Apache-2.0

/**
 * The faults, and the servers that they strike.
 */
@NullMarked
package io.github.lockstarter.faults.nemesis;

import org.jspecify.annotations.NullMarked;
