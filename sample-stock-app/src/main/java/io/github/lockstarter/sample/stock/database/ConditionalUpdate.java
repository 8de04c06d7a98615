// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.database;

import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.SoldOutException;
import io.github.lockstarter.sample.stock.StockRepository;

/**
 * One {@code UPDATE} that only finds the row if enough units are left. The database locks
 * the row for the rest of the transaction, and nothing was read before. Right, fast, and
 * often all that is needed: use it if the whole decision fits into its condition.
 */
@Component("conditional-update")
class ConditionalUpdate implements DeductionStrategy {

	private final StockRepository stocks;

	ConditionalUpdate(StockRepository stocks) {
		this.stocks = stocks;
	}

	@Override
	@Transactional
	public int deduct(long productId, int count) {
		if (!this.stocks.deductIfLeft(productId, count)) {
			this.stocks.getCount(productId);
			throw new SoldOutException(productId);
		}
		this.stocks.insertOrder(productId, count);
		return this.stocks.getCount(productId);
	}

}
