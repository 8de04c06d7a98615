// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;

/**
 * Sells under a distributed lock: correct with any number of instances.
 */
@Service("distributed-lock")
public class StockService implements DeductionStrategy {

	private final StockRepository stocks;

	StockService(StockRepository stocks) {
		this.stocks = stocks;
	}

	/**
	 * The lock is acquired before the transaction begins and released after its commit,
	 * so the next owner reads the writes of this call.
	 */
	@Override
	@DistributedLock(name = "stock", key = "#productId")
	@Transactional
	public int deduct(long productId, int count) {
		int remaining = this.stocks.getCount(productId) - count;
		if (remaining < 0) {
			throw new SoldOutException(productId);
		}
		this.stocks.updateCount(productId, remaining);
		this.stocks.insertOrder(productId, count);
		return remaining;
	}

}
