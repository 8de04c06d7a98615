// SPDX-License-Identifier: Apache-2.0

/**
 * Fenced transactions: databases refuse the transactions of late owners.
 */
@NullMarked
package io.github.lockstarter.fencing;

import org.jspecify.annotations.NullMarked;
