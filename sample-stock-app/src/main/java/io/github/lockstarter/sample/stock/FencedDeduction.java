// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;

/**
 * Sells under a distributed lock, and the database refuses owners that have lost it: even
 * a pause of the JVM cannot cause overselling.
 */
@Service
public class FencedDeduction implements DeductionStrategy {

	private final StockRepository stocks;

	FencedDeduction(StockRepository stocks) {
		this.stocks = stocks;
	}

	/**
	 * Claims the row before reading it. If only the write checked the token, an owner
	 * could read a count that the next owner is about to change.
	 */
	@Override
	@DistributedLock(name = "stock", key = "#productId")
	@Transactional
	public int deduct(long productId, int count) {
		this.stocks.claim(productId, Lease.current().fencingToken());
		int remaining = this.stocks.getCount(productId) - count;
		if (remaining < 0) {
			throw new SoldOutException(productId);
		}
		this.stocks.updateCount(productId, remaining);
		this.stocks.insertOrder(productId, count);
		return remaining;
	}

	@Override
	public String name() {
		return "distributed-lock-fenced";
	}

	@Override
	public String description() {
		return "The same, and the database refuses owners that have lost the lock: correct even if they are paused";
	}

}
