// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.ours;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;

/**
 * Sells under a lock on a majority of independent Redis servers. It outlives the loss of
 * a minority, but relies on clocks that run at the same speed. An owner that is paused
 * for longer than its lease may still write late.
 */
@StoreStrategy("distributed-lock-redlock")
class RedlockLock implements DeductionStrategy {

	private final Sales sales;

	RedlockLock(Sales sales) {
		this.sales = sales;
	}

	@Override
	@DistributedLock(name = "stock-redlock", key = "#productId", store = "redlock")
	public int deduct(long productId, int count) {
		return this.sales.sell(productId, count);
	}

}
