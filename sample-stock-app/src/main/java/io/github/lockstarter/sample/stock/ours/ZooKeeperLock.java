// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.ours;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Expectation;
import io.github.lockstarter.sample.stock.Family;
import io.github.lockstarter.sample.stock.Sales;
import io.github.lockstarter.sample.stock.StrategyDescription;

/**
 * Sells under a lock in ZooKeeper. A majority of the ensemble confirms each grant, so no
 * failover loses a lock, and each lock waits for that majority. An owner that is paused
 * for longer than its session may still write late.
 */
@StoreStrategy
class ZooKeeperLock implements DeductionStrategy {

	private final Sales sales;

	ZooKeeperLock(Sales sales) {
		this.sales = sales;
	}

	@Override
	@DistributedLock(name = "stock-zookeeper", key = "#productId", store = "zookeeper")
	public int deduct(long productId, int count) {
		return this.sales.sell(productId, count);
	}

	@Override
	public StrategyDescription description() {
		return new StrategyDescription("distributed-lock-zookeeper", Family.DISTRIBUTED_LOCK,
				"A lock in ZooKeeper, which a failover does not lose: right while no JVM pauses, and slower",
				Expectation.RIGHT);
	}

}
