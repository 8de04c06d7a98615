// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.stereotype.Component;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * Loses its lock in the middle of a slow sale, because the lease has a fixed length. The
 * next customer sells meanwhile, and this sale overwrites that one. By default, the
 * instance would notice at the commit and roll back; {@link OnLost#LOG} makes it as
 * ignorant as one that is paused during the commit, or whose Redis has lost the lock.
 */
@Component("lost-lease")
class LostLease implements DeductionStrategy {

	private final NoLock sale;

	LostLease(NoLock sale) {
		this.sale = sale;
	}

	@Override
	@DistributedLock(name = "lost-lease", key = "#productId", leaseTime = "${shop.naive-lease-time:10s}",
			onLost = OnLost.LOG)
	public int deduct(long productId, int count) {
		return this.sale.deduct(productId, count);
	}

}
