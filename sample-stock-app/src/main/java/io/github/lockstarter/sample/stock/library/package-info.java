// SPDX-License-Identifier: Apache-2.0

/**
 * The distributed locks of other libraries, with the profile {@code libraries}.
 */
@NullMarked
package io.github.lockstarter.sample.stock.library;

import org.jspecify.annotations.NullMarked;
