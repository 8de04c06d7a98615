// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * The same code as {@link StockService} without the lock: a transaction alone does not
 * prevent two calls from reading the same count.
 */
@Component
class UnlockedDeduction implements DeductionStrategy {

	private final StockRepository stocks;

	UnlockedDeduction(StockRepository stocks) {
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

	@Override
	public String name() {
		return "none";
	}

	@Override
	public String description() {
		return "Read, check and write in a transaction, no lock: oversells";
	}

}
