// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.testkit;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.test.autoconfigure.AutoConfigureDistributedLocks;
import io.github.lockstarter.test.autoconfigure.Situation;
import io.github.lockstarter.test.autoconfigure.TestLocks;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@SpringBootTest(webEnvironment = WebEnvironment.NONE)
@AutoConfigureDistributedLocks
class HeldElsewhereBeforeAllTests {

	private static Situation sale;

	@Autowired
	private StockService stock;

	@MockitoBean
	private Ledger ledger;

	@BeforeAll
	static void anotherInstanceSells(@Autowired TestLocks locks) {
		sale = locks.heldElsewhere("stock", 1001);
	}

	@AfterAll
	static void anotherInstanceHasSold() {
		sale.close();
	}

	@RepeatedTest(2)
	void noTestOfTheClassSells() {
		assertThatExceptionOfType(LockContendedException.class).isThrownBy(() -> this.stock.sell(1001));
	}

	@Nested
	class NestedClass {

		@RepeatedTest(2)
		void noTestOfANestedClassSells() {
			noTestOfTheClassSells();
		}

	}

}
