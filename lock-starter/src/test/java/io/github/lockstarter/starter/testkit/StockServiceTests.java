// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.testkit;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockLostException;
import io.github.lockstarter.test.TestLease;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

class StockServiceTests {

	private final Ledger ledger = mock();

	private final StockService stock = new StockService(this.ledger);

	@Test
	void aSaleIsWrittenWithItsFencingToken() {
		TestLease lease = TestLease.of("stock", 1001).withFencingToken(42);
		lease.run(() -> this.stock.sell(1001));
		verify(this.ledger).write(1001, 42);
	}

	@Test
	void aSaleFailsIfTheLockIsLostMeanwhile() {
		TestLease lease = TestLease.of("stock", 1001);
		willAnswer((call) -> {
			lease.lose();
			return null;
		}).given(this.ledger).write(anyLong(), anyLong());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> lease.run(() -> this.stock.sell(1001)));
	}

}
