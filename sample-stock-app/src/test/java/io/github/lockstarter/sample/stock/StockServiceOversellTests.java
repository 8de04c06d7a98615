// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.test.SafetyViolation;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two instances in two JVMs, started as the README says, sell the same products. The run
 * without a lock is the control: it shows that the load causes overselling.
 */
@Tag("clock")
class StockServiceOversellTests {

	private static final int STOCK = 100;

	private static final int CUSTOMERS = 300;

	private static ShopProcess first;

	private static ShopProcess second;

	private static ShopClient shops;

	@BeforeAll
	static void open(@TempDir Path directory) {
		first = start(directory);
		Awaitility.await()
			.atMost(Duration.ofMinutes(1))
			.until(() -> first.log().contains("Started spring.data.redis.url"));
		second = start(directory);
		shops = ShopClient.of(first.awaitOpen().port(), second.awaitOpen().port()).awaitLocks();
	}

	/** Nobody is turned away because the machine stands still for some seconds. */
	private static ShopProcess start(Path directory) {
		return ShopProcess.start(directory, "--distributed-lock.waiting.outage-time=20s",
				"--distributed-lock.wait-time=25s");
	}

	@AfterAll
	static void close() {
		ShopProcess.closeAll(first, second);
	}

	@Test
	void theSecondInstanceJoinsTheServerOfTheFirst() {
		assertThat(first.log()).contains("Started spring.data.redis.url");
		assertThat(second.log()).contains("Joined spring.data.redis.url");
	}

	@Test
	void withoutALockTheStockIsOversold() throws Exception {
		rush(1, "none");
		assertThat(isSoldWrongly(shops.stock(1))).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "distributed-lock", "distributed-lock-fenced-transaction" })
	void withTheLockAsManyAreSoldAsThereAre(String strategy) throws Exception {
		Map<Integer, Integer> answers = rush(2, strategy);
		JsonNode stock = shops.stock(2);
		SafetyViolation.check(!isSoldWrongly(stock), "'%s' did not keep the books: %s", strategy, stock);
		assertThat(answers).isEqualTo(Map.of(200, STOCK, 409, CUSTOMERS - STOCK));
		assertThat(stock.get("remaining").asInt()).isZero();
	}

	private static Map<Integer, Integer> rush(long productId, String strategy) throws Exception {
		shops.setStock(productId, STOCK);
		return shops.rush(productId, strategy, CUSTOMERS, 16);
	}

	private static boolean isSoldWrongly(JsonNode stock) {
		return stock.get("oversold").asInt() > 0 || stock.has("lost");
	}

}
