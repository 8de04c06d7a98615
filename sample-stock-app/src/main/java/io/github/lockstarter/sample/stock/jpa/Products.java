// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.jpa;

import jakarta.persistence.EntityManager;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.sample.stock.StockRepository;
import io.github.lockstarter.sample.stock.UnknownProductException;
import io.github.lockstarter.sample.stock.WriteDelay;

/**
 * A sale as it is usually written with JPA: find, check and change, in a transaction.
 */
@Service
@Profile("jpa")
class Products {

	private final EntityManager entityManager;

	private final StockRepository stocks;

	private final WriteDelay writeDelay;

	Products(EntityManager entityManager, StockRepository stocks, WriteDelay writeDelay) {
		this.entityManager = entityManager;
		this.stocks = stocks;
		this.writeDelay = writeDelay;
	}

	/**
	 * Find a product, or return the one that the persistence context of the request
	 * already has.
	 */
	Product get(long productId) {
		Product product = this.entityManager.find(Product.class, productId);
		if (product == null) {
			throw new UnknownProductException(productId);
		}
		return product;
	}

	@Transactional
	public int sell(long productId, int count) {
		Product product = get(productId);
		int remaining = product.remainingAfter(count);
		this.writeDelay.await(productId);
		product.setCount(remaining);
		this.stocks.insertOrder(productId, count);
		return remaining;
	}

}
