// SPDX-License-Identifier: Apache-2.0

/**
 * The observations of the threads of all workers, on one clock.
 */
@NullMarked
package io.github.lockstarter.faults.history;

import org.jspecify.annotations.NullMarked;
