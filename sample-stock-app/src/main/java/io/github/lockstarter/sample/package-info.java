// SPDX-License-Identifier: Apache-2.0

/**
 * A small shop that oversells its stock without a distributed lock and never with it.
 * Start reading at {@link io.github.lockstarter.sample.stock.StockService}.
 */
@NullMarked
package io.github.lockstarter.sample;

import org.jspecify.annotations.NullMarked;
