// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.StockRepository;

/**
 * A sale as it is usually written first: read, check and write, in a transaction. A
 * transaction alone does not prevent two sales from reading the same count. Both then
 * write what is left after their own, so one of them is forgotten.
 */
@Component("none")
class NoLock implements DeductionStrategy {

	private final StockRepository stocks;

	NoLock(StockRepository stocks) {
		this.stocks = stocks;
	}

	@Override
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
