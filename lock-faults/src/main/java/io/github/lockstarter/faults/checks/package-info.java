// SPDX-License-Identifier: Apache-2.0

/**
 * What has to be true of a history.
 */
@NullMarked
package io.github.lockstarter.faults.checks;

import org.jspecify.annotations.NullMarked;
