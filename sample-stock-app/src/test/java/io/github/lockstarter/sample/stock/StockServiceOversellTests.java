// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.util.Map;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;

import io.github.lockstarter.sample.AbstractShopTests;
import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.test.SafetyViolation;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two instances in two JVMs, of which the second one joins the servers of the first as
 * the README says, sell the same products. The run without a lock is the control: it
 * shows that the load causes overselling.
 */
class StockServiceOversellTests extends AbstractShopTests {

	private static final long PRODUCT = 1001;

	private static final int STOCK = 50;

	private static final int CUSTOMERS = 150;

	@Autowired
	private ShopProcess second;

	private ShopClient shops;

	@BeforeEach
	void open(@LocalServerPort int port) {
		this.shops = ShopClient.of(port, this.second.port());
	}

	@Test
	void theSecondInstanceJoinsTheServerOfTheFirst() {
		assertThat(this.second.log()).contains("Joined spring.data.redis.url");
	}

	@Test
	void withoutALockTheStockIsOversold() throws Exception {
		rush("none");
		assertThat(isSoldWrongly(this.shops.stock(PRODUCT))).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "distributed-lock", "distributed-lock-fenced-transaction" })
	void withTheLockAsManyAreSoldAsThereAre(String strategy) throws Exception {
		Map<Integer, Integer> answers = rush(strategy);
		JsonNode stock = this.shops.stock(PRODUCT);
		SafetyViolation.check(!isSoldWrongly(stock), "'%s' did not keep the books: %s", strategy, stock);
		assertThat(answers).isEqualTo(Map.of(200, STOCK, 409, CUSTOMERS - STOCK));
		assertThat(stock.get("remaining").asInt()).isZero();
	}

	private Map<Integer, Integer> rush(String strategy) throws Exception {
		this.shops.setStock(PRODUCT, STOCK);
		return this.shops.rush(PRODUCT, strategy, CUSTOMERS, 16);
	}

	private static boolean isSoldWrongly(JsonNode stock) {
		return stock.get("oversold").asInt() > 0 || stock.has("lost");
	}

}
