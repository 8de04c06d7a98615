// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.StockRepository;

/**
 * Sells under a distributed lock, and the database refuses owners that have lost it: even
 * a pause of the JVM cannot cause overselling.
 */
@Component("distributed-lock-fenced")
class FencedLock implements DeductionStrategy {

	private final JdbcClient jdbc;

	private final StockRepository stocks;

	private final NoLock sale;

	FencedLock(JdbcClient jdbc, StockRepository stocks, NoLock sale) {
		this.jdbc = jdbc;
		this.stocks = stocks;
		this.sale = sale;
	}

	/**
	 * Claims the row before reading it. If only the write checked the token, an owner
	 * could read a count that the next owner is about to change.
	 */
	@Override
	@DistributedLock(name = "stock", key = "#productId")
	@Transactional
	public int deduct(long productId, int count) {
		long token = Lease.current().fencingToken();
		int claimed = this.jdbc.sql("update mall_stock set fence = ? where product_id = ? and fence < ?")
			.params(token, productId, token)
			.update();
		if (claimed == 0) {
			this.stocks.getCount(productId);
			throw new BusyException("Product '" + productId + "' was sold by another owner in the meantime");
		}
		return this.sale.deduct(productId, count);
	}

}
