// SPDX-License-Identifier: Apache-2.0

/**
 * How locks and the transactions of Spring go together.
 */
@NullMarked
package io.github.lockstarter.transaction;

import org.jspecify.annotations.NullMarked;
