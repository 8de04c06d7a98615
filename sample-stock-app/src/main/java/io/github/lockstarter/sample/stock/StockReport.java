// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * What the tables say about a product.
 *
 * @param productId the product
 * @param initial how many units there were
 * @param remaining how many units are left, going by the stock
 * @param sold how many units were ordered
 * @param oversold how many units were ordered that were never there
 * @param lost by how much orders and stock disagree, absent when they agree; negative
 * when a sale was overwritten by another
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record StockReport(long productId, int initial, int remaining, long sold, long oversold, @Nullable Long lost) {

	static StockReport of(long productId, int initial, int remaining, long sold) {
		long lost = (initial - sold) - remaining;
		return new StockReport(productId, initial, remaining, sold, Math.max(0, sold - initial),
				(lost != 0) ? lost : null);
	}

}
