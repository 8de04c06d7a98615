// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.stereotype.Component;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * The same as {@link LostLease} with a fenced transaction, and nothing else. The lease
 * ends as early, and the instance is as ignorant, but the next sale waits in the database
 * until this one has ended. A customer whose sale begins after a later one gets a
 * {@link LockLostException}, and nothing is sold.
 */
@Component("lost-lease-fenced")
class LostLeaseFenced implements DeductionStrategy {

	private final NoLock sale;

	LostLeaseFenced(NoLock sale) {
		this.sale = sale;
	}

	@Override
	@DistributedLock(name = "lost-lease-fenced", key = "#productId", leaseTime = "${shop.naive-lease-time:10s}",
			onLost = OnLost.LOG, transactionFencing = TransactionFencing.ON)
	public int deduct(long productId, int count) {
		return this.sale.deduct(productId, count);
	}

}
