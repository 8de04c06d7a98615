// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.StockRepository;
import io.github.lockstarter.sample.stock.WriteDelay;

/**
 * One {@code UPDATE} that only finds the row if enough units are left. The database locks
 * the row for the rest of the transaction, and nothing was read before. Right, fast, and
 * often all that is needed: use it if the whole decision fits into its condition.
 */
@Component("conditional-update")
class ConditionalUpdate implements DeductionStrategy {

	private final JdbcClient jdbc;

	private final StockRepository stocks;

	private final WriteDelay writeDelay;

	ConditionalUpdate(JdbcClient jdbc, StockRepository stocks, WriteDelay writeDelay) {
		this.jdbc = jdbc;
		this.stocks = stocks;
		this.writeDelay = writeDelay;
	}

	@Override
	@Transactional
	public int deduct(long productId, int count) {
		this.writeDelay.await(productId);
		int updated = this.jdbc
			.sql("update mall_stock set count = count - ?, version = version + 1 where product_id = ? and count >= ?")
			.params(count, productId, count)
			.update();
		int remaining = this.stocks.getCount(productId);
		if (updated == 0) {
			throw new SoldOutException(productId);
		}
		this.stocks.insertOrder(productId, count);
		return remaining;
	}

}
