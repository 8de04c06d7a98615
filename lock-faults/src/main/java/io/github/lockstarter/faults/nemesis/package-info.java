// SPDX-License-Identifier: Apache-2.0

/**
 * What goes wrong, and the servers to which it happens.
 */
@NullMarked
package io.github.lockstarter.faults.nemesis;

import org.jspecify.annotations.NullMarked;
