// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.testkit;

import org.springframework.stereotype.Service;

import io.github.lockstarter.DistributedLock;

@Service
class OrderService {

	private final StockService stock;

	OrderService(StockService stock) {
		this.stock = stock;
	}

	@DistributedLock(name = "order", key = "#orderId", registry = "jdbcLockRegistry")
	public void place(long orderId, long productId) {
		this.stock.sell(productId);
	}

}
