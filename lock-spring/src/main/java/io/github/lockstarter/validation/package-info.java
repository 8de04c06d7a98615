// SPDX-License-Identifier: Apache-2.0

/**
 * Checks at startup that no annotated method runs without its lock.
 */
@NullMarked
package io.github.lockstarter.validation;

import org.jspecify.annotations.NullMarked;
