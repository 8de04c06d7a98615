// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * Sells under a {@link LockMode#FAIR} lock: calls are served in FIFO order across all
 * instances. Each sale costs a hand-over through the store, and Redlock has no such
 * locks.
 */
@Component("distributed-lock-fair")
@Profile("!redlock | stores")
class FairLock implements DeductionStrategy {

	private final NoLock sale;

	FairLock(NoLock sale) {
		this.sale = sale;
	}

	@Override
	@DistributedLock(name = "stock", key = "#productId", mode = LockMode.FAIR)
	public int deduct(long productId, int count) {
		return this.sale.deduct(productId, count);
	}

}
