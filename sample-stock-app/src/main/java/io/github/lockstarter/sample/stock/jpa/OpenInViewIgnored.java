// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.jpa;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * The same as {@link OpenInView}, but the sale keeps the persistence context of the
 * request. It gets the product as it was before the lock, and overwrites the sales of
 * others, although only one of them holds the lock at a time.
 */
@Component("jpa-open-in-view-ignored")
@Profile("jpa")
class OpenInViewIgnored implements DeductionStrategy {

	private final Products products;

	private final LockedSales lockedSales;

	OpenInViewIgnored(Products products, LockedSales lockedSales) {
		this.products = products;
		this.lockedSales = lockedSales;
	}

	/** A product that is sold out is not worth waiting for the lock. */
	@Override
	public int deduct(long productId, int count) {
		this.products.get(productId).remainingAfter(count);
		return this.lockedSales.sell(productId, count);
	}

	@Component
	@Profile("jpa")
	static class LockedSales {

		private final Products products;

		LockedSales(Products products) {
			this.products = products;
		}

		@DistributedLock(name = "stock", key = "#productId", persistenceContext = OnPersistenceContext.IGNORE)
		public int sell(long productId, int count) {
			return this.products.sell(productId, count);
		}

	}

}
