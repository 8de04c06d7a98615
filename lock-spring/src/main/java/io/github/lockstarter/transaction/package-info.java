// SPDX-License-Identifier: Apache-2.0

/**
 * Aligns locks with the transactions of Spring.
 */
@NullMarked
package io.github.lockstarter.transaction;

import org.jspecify.annotations.NullMarked;
