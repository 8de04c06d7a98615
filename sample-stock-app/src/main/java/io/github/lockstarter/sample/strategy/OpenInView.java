// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import jakarta.persistence.EntityManager;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;
import io.github.lockstarter.OnActiveTransaction;
import io.github.lockstarter.OnPersistenceContext;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.sample.stock.DeductionStrategy;
import io.github.lockstarter.sample.stock.DeductionStrategy.UnknownProductException;
import io.github.lockstarter.sample.stock.StockRepository;
import io.github.lockstarter.sample.stock.WriteDelay;
import io.github.lockstarter.transaction.TransactionAwareLockRegistry;

/**
 * Looks at the product before it calls the locked method, as controllers do: what is sold
 * out is not worth waiting for the lock. Spring Boot keeps one persistence context open
 * for the whole request.
 */
@Configuration(proxyBeanMethods = false)
@Profile("jpa")
class OpenInView {

	/**
	 * The lock sets the persistence context aside: the sale finds the product as the
	 * previous owner has left it.
	 */
	@Bean("jpa-open-in-view")
	DeductionStrategy isolated(Products products) {
		return (productId, count) -> {
			products.get(productId).remainingAfter(count);
			return products.sell(productId, count);
		};
	}

	/**
	 * The sale keeps the persistence context. It gets the product as it was before the
	 * lock, and overwrites the sales of others, although only one of them holds the lock
	 * at a time.
	 */
	@Bean("jpa-open-in-view-ignored")
	DeductionStrategy ignored(Products products, LockRegistry registry) {
		LockRegistry plain = ((TransactionAwareLockRegistry) registry).delegate();
		LockTemplate lock = new LockTemplate(new TransactionAwareLockRegistry("open-in-view", plain,
				OnActiveTransaction.DEFAULT, OnPersistenceContext.IGNORE, LockListener.NO_OP));
		return (productId, count) -> {
			products.get(productId).remainingAfter(count);
			return lock.execute(LockRequest.of("stock", productId), (lease) -> products.sell(productId, count));
		};
	}

	/**
	 * A sale as it is usually written with JPA: find, check and change, in a transaction.
	 */
	@Service
	@Profile("jpa")
	static class Products {

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
		public Product get(long productId) {
			Product product = this.entityManager.find(Product.class, productId);
			if (product == null) {
				throw new UnknownProductException(productId);
			}
			return product;
		}

		@DistributedLock(name = "stock", key = "#productId")
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

}
