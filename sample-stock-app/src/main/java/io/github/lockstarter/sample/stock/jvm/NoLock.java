// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.jvm;

import org.springframework.stereotype.Component;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Sales;

/**
 * No lock. Two sales that read the same count both write what is left after their own, so
 * one of them is forgotten.
 */
@Component("none")
class NoLock implements DeductionStrategy {

	private final Sales sales;

	NoLock(Sales sales) {
		this.sales = sales;
	}

	@Override
	public int deduct(long productId, int count) {
		return this.sales.sell(productId, count);
	}

}
