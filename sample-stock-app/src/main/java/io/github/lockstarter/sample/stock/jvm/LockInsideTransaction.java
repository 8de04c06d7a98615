// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.jvm;

import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;

/**
 * A {@code synchronized} block inside of the transaction. The transaction commits after
 * the block has ended, so the next sale reads the old count. Wrong in one instance
 * already; {@link SynchronizedBlock} has both in the right order.
 */
@Component("synchronized-in-transaction")
class LockInsideTransaction implements DeductionStrategy {

	private final Sales sales;

	private final Object monitor = new Object();

	LockInsideTransaction(Sales sales) {
		this.sales = sales;
	}

	/** The inner transaction takes part in this one. */
	@Override
	@Transactional
	public int deduct(long productId, int count) {
		synchronized (this.monitor) {
			return this.sales.sell(productId, count);
		}
	}

}
