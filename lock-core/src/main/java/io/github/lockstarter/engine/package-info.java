// SPDX-License-Identifier: Apache-2.0

/**
 * What happens above every store: the local queue of each lock, waiting, reentrancy,
 * renewal by the watchdog, and shutdown.
 */
@NullMarked
package io.github.lockstarter.engine;

import org.jspecify.annotations.NullMarked;
