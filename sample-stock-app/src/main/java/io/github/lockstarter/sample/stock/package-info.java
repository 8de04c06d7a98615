// SPDX-License-Identifier: Apache-2.0

/**
 * Stock and orders. Start reading at
 * {@link io.github.lockstarter.sample.stock.StockService}.
 */
@NullMarked
package io.github.lockstarter.sample.stock;

import org.jspecify.annotations.NullMarked;
