// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.jvm;

import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Expectation;
import io.github.lockstarter.sample.stock.Family;
import io.github.lockstarter.sample.stock.Sales;
import io.github.lockstarter.sample.stock.StrategyDescription;

/**
 * A {@code synchronized} block inside of the transaction. The transaction commits after
 * the block has ended, so the next sale reads the old count. Wrong in one instance
 * already; {@link SynchronizedBlock} has both in the right order.
 */
@Component
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

	@Override
	public StrategyDescription description() {
		return new StrategyDescription("synchronized-in-transaction", Family.JVM,
				"A synchronized block inside the transaction, which ends before the commit: oversells in one instance",
				Expectation.WRONG);
	}

}
