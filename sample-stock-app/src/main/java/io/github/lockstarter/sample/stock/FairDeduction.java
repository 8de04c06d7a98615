// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Service;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockMode;

/**
 * Sells under a {@link LockMode#FAIR} lock: calls are served in FIFO order across all
 * instances. Each sale costs a hand-over through the store, and Redlock has no such
 * locks.
 */
@Service
@Profile("!redlock")
public class FairDeduction implements DeductionStrategy {

	private final StockService stock;

	FairDeduction(StockService stock) {
		this.stock = stock;
	}

	/**
	 * The inner call acquires the same lock. A nested acquisition does not ask the store.
	 */
	@Override
	@DistributedLock(name = "stock", key = "#productId", mode = LockMode.FAIR)
	public int deduct(long productId, int count) {
		return this.stock.deduct(productId, count);
	}

	@Override
	public String name() {
		return "distributed-lock-fair";
	}

	@Override
	public String description() {
		return "The same with a FAIR lock, in FIFO order across all instances: correct, but slower";
	}

}
