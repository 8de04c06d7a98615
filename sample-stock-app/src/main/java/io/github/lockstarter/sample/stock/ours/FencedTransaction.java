// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.ours;

import org.springframework.stereotype.Service;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;

/**
 * Sells as {@link FencedLock} does, without a line of code for it: the transaction claims
 * the fencing token of the lock before it reads the stock. The next owner waits until the
 * transaction of a late one has ended, and a late one that has not begun is refused.
 */
@Service("distributed-lock-fenced-transaction")
public class FencedTransaction implements DeductionStrategy {

	private final Sales sales;

	FencedTransaction(Sales sales) {
		this.sales = sales;
	}

	@Override
	@DistributedLock(name = "stock", key = "#productId", transactionFencing = TransactionFencing.ON)
	public int deduct(long productId, int count) {
		return this.sales.sell(productId, count);
	}

}
