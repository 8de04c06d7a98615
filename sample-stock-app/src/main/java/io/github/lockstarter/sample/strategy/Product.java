// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

import io.github.lockstarter.sample.stock.DeductionStrategy.SoldOutException;

/**
 * A product, without the version of its row: with {@code @Version}, JPA would refuse to
 * overwrite what others have written.
 */
@Entity
@Table(name = "mall_stock")
class Product {

	@Id
	private long productId;

	private int count;

	protected Product() {
	}

	/**
	 * Return how many units remain after a sale.
	 * @throws SoldOutException if fewer are left
	 */
	int remainingAfter(int sold) {
		int remaining = this.count - sold;
		if (remaining < 0) {
			throw new SoldOutException(this.productId);
		}
		return remaining;
	}

	void setCount(int count) {
		this.count = count;
	}

}
