// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.stereotype.Component;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * Sells as {@link FencedLock} does, without a line of code for it: the transaction claims
 * the fencing token of the lock before it reads the stock. The next owner waits until the
 * transaction of a late one has ended, and a late one that has not begun is refused.
 */
@Component("distributed-lock-fenced-transaction")
class FencedTransaction implements DeductionStrategy {

	private final NoLock sale;

	FencedTransaction(NoLock sale) {
		this.sale = sale;
	}

	@Override
	@DistributedLock(name = "stock", key = "#productId", transactionFencing = TransactionFencing.ON)
	public int deduct(long productId, int count) {
		return this.sale.deduct(productId, count);
	}

}
