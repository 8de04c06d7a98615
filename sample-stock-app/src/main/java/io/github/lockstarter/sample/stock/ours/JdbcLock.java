// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.ours;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Expectation;
import io.github.lockstarter.sample.stock.Family;
import io.github.lockstarter.sample.stock.Sales;
import io.github.lockstarter.sample.stock.StrategyDescription;

/**
 * Sells under a lock in the database that has the stock. The sale claims the lock there,
 * so a late owner sells nothing. Each lock costs statements and two rows.
 */
@StoreStrategy
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

	@Override
	public StrategyDescription description() {
		return new StrategyDescription("distributed-lock-jdbc", Family.DISTRIBUTED_LOCK,
				"A lock in the database of the stock, which refuses late owners: right even if one is paused",
				Expectation.RIGHT);
	}

}
