// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * The state of a product in the tables.
 *
 * @param productId the product
 * @param initial the initial number of units
 * @param remaining the number of remaining units in the stock
 * @param sold the number of ordered units
 * @param oversold the number of ordered units that never existed
 * @param lost the difference between orders and stock, absent if they agree; negative if
 * a sale was overwritten by another
 * @param failedAttempts the number of sales that began again because another one was
 * faster, absent if there is none; only the strategy {@code optimistic-version} has them
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record StockReport(long productId, int initial, int remaining, long sold, long oversold, @Nullable Long lost,
		@Nullable Long failedAttempts) {

	static StockReport of(long productId, int initial, int remaining, long sold, long failedAttempts) {
		long lost = (initial - sold) - remaining;
		return new StockReport(productId, initial, remaining, sold, Math.max(0, sold - initial),
				(lost != 0) ? lost : null, (failedAttempts != 0) ? failedAttempts : null);
	}

}
