// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.ours;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Service;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;

/**
 * Sells under a {@link LockMode#FAIR} lock: calls are served in FIFO order across all
 * instances. Each sale costs a hand-over through the store, and Redlock has no such
 * locks.
 */
@Service("distributed-lock-fair")
@Profile("!redlock | stores")
public class FairLock implements DeductionStrategy {

	private final Sales sales;

	FairLock(Sales sales) {
		this.sales = sales;
	}

	@Override
	@DistributedLock(name = "stock", key = "#productId", mode = LockMode.FAIR)
	public int deduct(long productId, int count) {
		return this.sales.sell(productId, count);
	}

}
