// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.stereotype.Component;

import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * A {@code synchronized} block around the transaction. It is right in one instance, where
 * it serializes the sales of all products, and does not exclude other instances.
 */
@Component("synchronized")
class SynchronizedBlock implements DeductionStrategy {

	private final NoLock sale;

	private final Object monitor = new Object();

	SynchronizedBlock(NoLock sale) {
		this.sale = sale;
	}

	/**
	 * Not transactional itself, because the commit must happen inside of the block.
	 */
	@Override
	public int deduct(long productId, int count) {
		synchronized (this.monitor) {
			return this.sale.deduct(productId, count);
		}
	}

}
