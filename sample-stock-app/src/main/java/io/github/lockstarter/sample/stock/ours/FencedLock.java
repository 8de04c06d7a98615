// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.ours;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;
import io.github.lockstarter.sample.stock.StockRepository;

/**
 * Sells under a distributed lock, and the database refuses owners that have lost it: even
 * a pause of the JVM cannot cause overselling.
 */
@Service("distributed-lock-fenced")
public class FencedLock implements DeductionStrategy {

	private final StockRepository stocks;

	private final Sales sales;

	FencedLock(StockRepository stocks, Sales sales) {
		this.stocks = stocks;
		this.sales = sales;
	}

	/**
	 * Claims the row before reading it. If only the write checked the token, an owner
	 * could read a count that the next owner is about to change.
	 */
	@Override
	@DistributedLock(name = "stock", key = "#productId")
	@Transactional
	public int deduct(long productId, int count) {
		this.stocks.claim(productId, Lease.current().fencingToken());
		return this.sales.sell(productId, count);
	}

}
