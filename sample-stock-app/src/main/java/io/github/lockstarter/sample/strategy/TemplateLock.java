// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import org.springframework.stereotype.Component;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * Sells under the same lock by {@link LockTemplate}, as code does that no proxy calls.
 */
@Component("distributed-lock-template")
class TemplateLock implements DeductionStrategy {

	private final LockTemplate locks;

	private final NoLock sale;

	TemplateLock(LockTemplate locks, NoLock sale) {
		this.locks = locks;
		this.sale = sale;
	}

	@Override
	public int deduct(long productId, int count) {
		return this.locks.execute(LockRequest.of("stock", productId), (lease) -> this.sale.deduct(productId, count));
	}

}
