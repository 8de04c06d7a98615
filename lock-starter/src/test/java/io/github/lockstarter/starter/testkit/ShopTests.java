// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.testkit;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import reactor.test.StepVerifier;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.test.autoconfigure.AutoConfigureDistributedLocks;
import io.github.lockstarter.test.autoconfigure.Situation;
import io.github.lockstarter.test.autoconfigure.TestLocks;

import static io.github.lockstarter.test.LockAssertions.assertThat;
import static io.github.lockstarter.test.LockAssertions.assertThatLock;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

@SpringBootTest(webEnvironment = WebEnvironment.NONE)
@AutoConfigureDistributedLocks
class ShopTests {

	@Autowired
	private StockService stock;

	@Autowired
	private OrderService orders;

	@Autowired
	private TestLocks locks;

	@MockitoBean
	private Ledger ledger;

	@Test
	void aSaleIsWrittenUnderTheLock() {
		willAnswer((call) -> assertThatLock("stock", 1001).isHeldHere()).given(this.ledger).write(eq(1001L), anyLong());
		this.stock.sell(1001);
		verify(this.ledger).write(eq(1001L), anyLong());
		assertThatLock("stock", 1001).isNotHeldHere();
	}

	@Test
	void theOrderIsLockedBeforeTheProduct() {
		this.orders.place(7, 1001);
		assertThat(this.locks).hasAcquiredInOrder(LockKey.of("order", 7), LockKey.of("stock", 1001));
	}

	@Test
	void nothingIsSoldWhileAnotherInstanceSells() {
		try (Situation sale = this.locks.heldElsewhere("stock", 1001)) {
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.stock.sell(1001));
		}
		verify(this.ledger, never()).write(anyLong(), anyLong());
	}

	@Test
	void aSaleWaitsForAnotherInstance() {
		Situation other = this.locks.heldElsewhere("stock", 1001);
		CompletableFuture<Void> sale = CompletableFuture.runAsync(() -> this.stock.sell(1001));
		this.locks.awaitWaiting(1);
		assertThat(sale).isNotDone();
		other.close();
		sale.join();
	}

	@Test
	void aReactiveSaleFailsAtOnceWhileAnotherInstanceSells() {
		try (Situation sale = this.locks.heldElsewhere("stock", 1001)) {
			assertThatExceptionOfType(LockContendedException.class)
				.isThrownBy(() -> this.stock.sellLater(1001).block());
		}
		verify(this.ledger, never()).write(anyLong(), anyLong());
	}

	@Test
	void aStepVerifierSeesAtOnceThatASaleFails() {
		try (Situation sale = this.locks.heldElsewhere("stock", 1001)) {
			StepVerifier.create(this.stock.sellLater(1001)).verifyError(LockContendedException.class);
		}
		try (Situation outage = this.locks.outage()) {
			StepVerifier.create(this.stock.sellLater(1001)).verifyError(LockUnavailableException.class);
		}
	}

	@Test
	void stockIsCountedWhileAnotherInstanceCounts() {
		try (Situation count = this.locks.heldElsewhere(LockKey.of("stock", 1001), LockMode.READ)) {
			this.stock.count(1001);
			assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.stock.sell(1001));
		}
	}

	@Test
	void theCallerLearnsThatTheLockWasLost() {
		willAnswer((call) -> {
			this.locks.lose("stock", 1001);
			return null;
		}).given(this.ledger).write(eq(1001L), anyLong());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.stock.sell(1001));
		assertThat(this.locks).hasLost("stock", 1001);
	}

	@Test
	void nothingIsSoldDuringAnOutage() {
		try (Situation outage = this.locks.outage()) {
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.stock.sell(1001));
		}
		this.stock.sell(1001);
		verify(this.ledger).write(eq(1001L), anyLong());
	}

	@Test
	void aLongSaleKeepsTheLock() {
		willAnswer((call) -> {
			this.locks.advance(Duration.ofHours(1));
			return assertThatLock("stock", 1001).isHeldHere();
		}).given(this.ledger).write(eq(1001L), anyLong());
		this.stock.sell(1001);
		assertThat(this.locks).hasReleased("stock", 1001);
	}

}
