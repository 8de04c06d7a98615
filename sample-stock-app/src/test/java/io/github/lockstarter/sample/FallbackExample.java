// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnUnavailable;

/**
 * The example of reactions to a lock that cannot be acquired.
 */
class FallbackExample {

	private final Map<Long, Price> lastPrices = new ConcurrentHashMap<>();

	private final Supplier supplier;

	private final AtomicInteger outages = new AtomicInteger();

	FallbackExample(Supplier supplier) {
		this.supplier = supplier;
	}

	@DistributedLock(name = "price", key = "#productId", waitTime = "200ms", fallback = "lastPrice",
			onUnavailable = OnUnavailable.FALLBACK)
	public Optional<Price> refreshPrice(long productId) {
		Price price = this.supplier.ask(productId);
		this.lastPrices.put(productId, price);
		return Optional.of(price);
	}

	Optional<Price> lastPrice(long productId, LockException reason) {
		if (reason instanceof LockUnavailableException) {
			this.outages.incrementAndGet();
		}
		return Optional.ofNullable(this.lastPrices.get(productId));
	}

	int outages() {
		return this.outages.get();
	}

	interface Supplier {

		Price ask(long productId);

	}

	record Price(long cents) {
	}

}
