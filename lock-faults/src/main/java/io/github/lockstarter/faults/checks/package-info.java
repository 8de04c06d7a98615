// SPDX-License-Identifier: Apache-2.0

/**
 * The checks of a history.
 */
@NullMarked
package io.github.lockstarter.faults.checks;

import org.jspecify.annotations.NullMarked;
