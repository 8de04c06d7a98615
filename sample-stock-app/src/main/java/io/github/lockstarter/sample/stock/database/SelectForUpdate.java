// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.database;

import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;
import io.github.lockstarter.sample.stock.StockRepository;

/**
 * {@code SELECT ... FOR UPDATE} locks the row before it is read, until the transaction
 * ends. Right as long as all that is protected is in one database. Each waiting customer
 * occupies a connection and a transaction, and waits as long as the database allows.
 */
@Component("select-for-update")
class SelectForUpdate implements DeductionStrategy {

	private final StockRepository stocks;

	private final Sales sales;

	SelectForUpdate(StockRepository stocks, Sales sales) {
		this.stocks = stocks;
		this.sales = sales;
	}

	@Override
	@Transactional
	public int deduct(long productId, int count) {
		this.stocks.lock(productId);
		return this.sales.sell(productId, count);
	}

}
