// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * A sale as it is usually written first: read, check and write, in a transaction. That is
 * right as long as nobody else sells the product, because a transaction alone does not
 * prevent two sales from reading the same count.
 */
@Service
public class Sales {

	private final StockRepository stocks;

	Sales(StockRepository stocks) {
		this.stocks = stocks;
	}

	@Transactional
	public int sell(long productId, int count) {
		int remaining = this.stocks.getCount(productId) - count;
		if (remaining < 0) {
			throw new SoldOutException(productId);
		}
		this.stocks.updateCount(productId, remaining);
		this.stocks.insertOrder(productId, count);
		return remaining;
	}

}
