// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.starter.testkit;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import io.github.lockstarter.test.autoconfigure.AutoConfigureDistributedLocks;
import io.github.lockstarter.test.autoconfigure.Situation;
import io.github.lockstarter.test.autoconfigure.TestLocks;

import static io.github.lockstarter.test.LockAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

@WebMvcTest(StockController.class)
@AutoConfigureDistributedLocks
@Import(StockService.class)
class StockControllerTests {

	@Autowired
	private MockMvcTester mvc;

	@Autowired
	private TestLocks locks;

	@MockitoBean
	private Ledger ledger;

	@Test
	void anotherInstanceSellsTheSameProduct() {
		try (Situation sale = this.locks.heldElsewhere("stock", 1001)) {
			assertThat(this.mvc.post().uri("/products/1001/sales")).hasStatus(HttpStatus.CONFLICT);
			assertThat(this.mvc.post().uri("/products/1002/sales")).hasStatusOk();
		}
		assertThat(this.locks).hasNotAcquired("stock", 1001).hasAcquired("stock", 1002);
	}

}
