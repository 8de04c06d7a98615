// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

import org.springframework.stereotype.Component;

import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * A {@link ReentrantLock} for each product, around the transaction. Sales of different
 * products no longer wait for each other, but other instances are not excluded either.
 * The locks are never removed.
 */
@Component("reentrant-lock")
class ReentrantLocks implements DeductionStrategy {

	private final NoLock sale;

	private final Map<Long, Lock> locks = new ConcurrentHashMap<>();

	ReentrantLocks(NoLock sale) {
		this.sale = sale;
	}

	@Override
	public int deduct(long productId, int count) {
		Lock lock = this.locks.computeIfAbsent(productId, (id) -> new ReentrantLock());
		lock.lock();
		try {
			return this.sale.deduct(productId, count);
		}
		finally {
			lock.unlock();
		}
	}

}
