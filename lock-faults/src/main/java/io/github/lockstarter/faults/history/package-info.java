// SPDX-License-Identifier: Apache-2.0

/**
 * What the threads of all workers saw, on one clock.
 */
@NullMarked
package io.github.lockstarter.faults.history;

import org.jspecify.annotations.NullMarked;
