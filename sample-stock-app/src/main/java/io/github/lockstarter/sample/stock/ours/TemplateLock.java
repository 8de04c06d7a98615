// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.ours;

import org.springframework.stereotype.Service;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;

/**
 * Sells under the same lock by {@link LockTemplate}, as code does that no proxy calls.
 */
@Service("distributed-lock-template")
public class TemplateLock implements DeductionStrategy {

	private final LockTemplate locks;

	private final Sales sales;

	TemplateLock(LockTemplate locks, Sales sales) {
		this.locks = locks;
		this.sales = sales;
	}

	@Override
	public int deduct(long productId, int count) {
		return this.locks.execute(LockRequest.of("stock", productId), (lease) -> this.sales.sell(productId, count));
	}

}
