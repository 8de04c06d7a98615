// SPDX-License-Identifier: Apache-2.0

/**
 * Stock, orders and the strategies to sell. Start reading at
 * {@link io.github.lockstarter.sample.stock.StockService}.
 */
@NullMarked
package io.github.lockstarter.sample.stock;

import org.jspecify.annotations.NullMarked;
