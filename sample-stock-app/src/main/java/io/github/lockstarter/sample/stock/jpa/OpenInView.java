// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.jpa;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.sample.stock.DeductionStrategy;

/**
 * Looks at the product before it calls the locked method, as controllers do. Spring Boot
 * keeps one persistence context open for the whole request, and the lock sets it aside:
 * the sale finds the product as the previous owner has left it.
 */
@Component("jpa-open-in-view")
@Profile("jpa")
class OpenInView implements DeductionStrategy {

	private final Products products;

	private final LockedSales lockedSales;

	OpenInView(Products products, LockedSales lockedSales) {
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

		@DistributedLock(name = "stock", key = "#productId")
		public int sell(long productId, int count) {
			return this.products.sell(productId, count);
		}

	}

}
