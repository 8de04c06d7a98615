// SPDX-License-Identifier: Apache-2.0

/**
 * Attacks locks with real processes, real kills and real servers, and checks the results.
 */
@NullMarked
package io.github.lockstarter.faults;

import org.jspecify.annotations.NullMarked;
