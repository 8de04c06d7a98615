// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.util.Map;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

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

	private static final int STOCK = 100;

	private static final int CUSTOMERS = 300;

	private static ShopProcess second;

	private static ShopClient shops;

	/** Nobody is turned away because the machine stands still for some seconds. */
	@BeforeAll
	static void open(@LocalServerPort int port) {
		second = ShopProcess
			.start(DIRECTORY, "--distributed-lock.waiting.outage-time=1m", "--distributed-lock.wait-time=1m",
					"--distributed-lock.lease-time=1m", "--shop.write-delay=2ms")
			.awaitOpen();
		shops = ShopClient.of(port, second.port());
	}

	@AfterAll
	static void close() {
		second.close();
	}

	@Test
	void theSecondInstanceJoinsTheServerOfTheFirst() {
		assertThat(second.log()).contains("Joined spring.data.redis.url");
	}

	@Test
	void withoutALockTheStockIsOversold() throws Exception {
		rush("none");
		assertThat(isSoldWrongly(shops.stock(PRODUCT))).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "distributed-lock", "distributed-lock-fenced-transaction" })
	void withTheLockAsManyAreSoldAsThereAre(String strategy) throws Exception {
		Map<Integer, Integer> answers = rush(strategy);
		JsonNode stock = shops.stock(PRODUCT);
		SafetyViolation.check(!isSoldWrongly(stock), "'%s' did not keep the books: %s", strategy, stock);
		assertThat(answers).isEqualTo(Map.of(200, STOCK, 409, CUSTOMERS - STOCK));
		assertThat(stock.get("remaining").asInt()).isZero();
	}

	private static Map<Integer, Integer> rush(String strategy) throws Exception {
		shops.setStock(PRODUCT, STOCK);
		return shops.rush(PRODUCT, strategy, CUSTOMERS, 16);
	}

	private static boolean isSoldWrongly(JsonNode stock) {
		return stock.get("oversold").asInt() > 0 || stock.has("lost");
	}

}
