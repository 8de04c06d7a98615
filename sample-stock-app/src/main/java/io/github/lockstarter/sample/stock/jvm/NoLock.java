// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.jvm;

import org.springframework.stereotype.Component;

import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.Expectation;
import io.github.lockstarter.sample.stock.Family;
import io.github.lockstarter.sample.stock.Sales;
import io.github.lockstarter.sample.stock.StrategyDescription;

/**
 * No lock. Two sales that read the same count both write what is left after their own, so
 * one of them is forgotten.
 */
@Component
class NoLock implements DeductionStrategy {

	private final Sales sales;

	NoLock(Sales sales) {
		this.sales = sales;
	}

	@Override
	public int deduct(long productId, int count) {
		return this.sales.sell(productId, count);
	}

	@Override
	public StrategyDescription description() {
		return new StrategyDescription("none", Family.JVM, "Read, check and write in a transaction, no lock: oversells",
				Expectation.WRONG);
	}

}
