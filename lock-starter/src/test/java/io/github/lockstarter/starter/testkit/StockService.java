// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.testkit;

import reactor.core.publisher.Mono;

import org.springframework.stereotype.Service;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;
import io.github.lockstarter.LockMode;

@Service
class StockService {

	private final Ledger ledger;

	StockService(Ledger ledger) {
		this.ledger = ledger;
	}

	@DistributedLock(name = "stock", key = "#productId")
	public void sell(long productId) {
		this.ledger.write(productId, Lease.current().fencingToken());
	}

	@DistributedLock(name = "stock", key = "#productId")
	public Mono<Void> sellLater(long productId) {
		return Mono.fromRunnable(() -> this.ledger.write(productId, 0));
	}

	@DistributedLock(name = "stock", key = "#productId", mode = LockMode.READ)
	public void count(long productId) {
	}

}
