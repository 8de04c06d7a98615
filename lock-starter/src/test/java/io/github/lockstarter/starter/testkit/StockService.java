// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.testkit;

import org.springframework.stereotype.Service;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.Lease;

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

}
