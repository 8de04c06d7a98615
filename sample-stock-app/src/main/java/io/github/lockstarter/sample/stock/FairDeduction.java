// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import org.springframework.stereotype.Service;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockMode;

/**
 * Sells under a distributed lock to whoever came first, whichever instance the customer
 * has reached. It costs a hand-over through Redis for each sale.
 */
@Service
public class FairDeduction implements DeductionStrategy {

	private final StockService stock;

	FairDeduction(StockService stock) {
		this.stock = stock;
	}

	/**
	 * The lock of the inner call is the same: a nested one, which costs nothing.
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
		return "The same, first come first served across all instances: correct, and slower";
	}

}
