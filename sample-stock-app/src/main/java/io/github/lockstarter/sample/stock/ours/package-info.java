// SPDX-License-Identifier: Apache-2.0

/**
 * Distributed locks, in the ways that the library offers. Start reading at
 * {@link io.github.lockstarter.sample.stock.StockService}.
 */
@NullMarked
package io.github.lockstarter.sample.stock.ours;

import org.jspecify.annotations.NullMarked;
