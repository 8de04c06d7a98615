// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * A {@code synchronized} block inside of the transaction. The transaction commits after
 * the block has ended, so the next sale reads the old count. Wrong in one instance
 * already; {@link SynchronizedBlock} has both in the right order.
 */
@Component("synchronized-in-transaction")
class LockInsideTransaction implements DeductionStrategy {

	private final NoLock sale;

	private final Object monitor = new Object();

	LockInsideTransaction(NoLock sale) {
		this.sale = sale;
	}

	/** The inner transaction takes part in this one. */
	@Override
	@Transactional
	public int deduct(long productId, int count) {
		synchronized (this.monitor) {
			return this.sale.deduct(productId, count);
		}
	}

}
