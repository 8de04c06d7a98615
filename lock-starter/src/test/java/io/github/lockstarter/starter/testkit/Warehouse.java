// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.testkit;

import java.util.List;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockTemplate;

class Warehouse {

	private final LockTemplate locks;

	private final Ledger ledger;

	Warehouse(LockTemplate locks, Ledger ledger) {
		this.locks = locks;
		this.ledger = ledger;
	}

	void exchange(long oneId, long otherId) {
		LockRequest one = LockRequest.of("stock", oneId);
		LockRequest other = LockRequest.of("stock", otherId);
		this.locks.executeWithoutResult(List.of(one, other), (leases) -> {
			this.ledger.write(oneId, leases.get(one.key()).fencingToken());
			this.ledger.write(otherId, leases.get(other.key()).fencingToken());
		});
	}

}
