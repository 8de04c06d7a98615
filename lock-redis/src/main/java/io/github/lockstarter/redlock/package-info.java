// SPDX-License-Identifier: Apache-2.0

/**
 * Locks that a majority of independent Redis servers grants.
 */
@NullMarked
package io.github.lockstarter.redlock;

import org.jspecify.annotations.NullMarked;
