// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.ours;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;

/**
 * Sells under a lock in ZooKeeper. A majority of the ensemble confirms each grant, so no
 * failover loses a lock, and each lock waits for that majority. An owner that is paused
 * for longer than its session may still write late.
 */
@StoreStrategy("distributed-lock-zookeeper")
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

}
