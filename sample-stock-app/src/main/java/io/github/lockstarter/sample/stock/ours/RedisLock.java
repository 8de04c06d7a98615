// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.ours;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;

/**
 * Sells under a lock in Redis. The fastest store; if Redis loses its data, for example in
 * a failover, there may be two owners for a moment, which {@link FencedLock} prevents.
 */
@StoreStrategy("distributed-lock-redis")
class RedisLock implements DeductionStrategy {

	private final Sales sales;

	RedisLock(Sales sales) {
		this.sales = sales;
	}

	@Override
	@DistributedLock(name = "stock-redis", key = "#productId", store = "redis")
	public int deduct(long productId, int count) {
		return this.sales.sell(productId, count);
	}

}
