// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.ours;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;

/**
 * Sells under a lock in the database that has the stock. The sale claims the lock there,
 * so a late owner sells nothing. Each lock costs statements and two rows.
 */
@StoreStrategy("distributed-lock-jdbc")
class JdbcLock implements DeductionStrategy {

	private final Sales sales;

	JdbcLock(Sales sales) {
		this.sales = sales;
	}

	@Override
	@DistributedLock(name = "stock-jdbc", key = "#productId", store = "jdbc")
	public int deduct(long productId, int count) {
		return this.sales.sell(productId, count);
	}

}
