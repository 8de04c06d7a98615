// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two instances in two JVMs sell the same products, with their locks in each of the other
 * stores. {@link StockServiceOversellTests} has the control.
 */
class OversellOverStoresTests {

	private static final int STOCK = 200;

	private static final int CUSTOMERS = 400;

	@TempDir
	private Path directory;

	@FullProfileOnly
	@ParameterizedTest
	@EnumSource
	void neverOversells(Store store) throws Exception {
		try (ShopProcess first = start(store); ShopProcess second = start(store)) {
			first.awaitOpen();
			second.awaitOpen();
			ShopClient shops = ShopClient.of(first.port(), second.port()).awaitLocks();
			int productId = 0;
			for (JsonNode strategy : shops.json("/strategies")) {
				String name = strategy.get("name").asString();
				if (name.startsWith("distributed-lock")) {
					productId++;
					sellOut(shops, productId, name);
				}
			}
			assertThat(productId).isEqualTo(store.strategies);
			assertThat(this.directory.resolve("redis.log")).doesNotExist();
		}
	}

	/** Nobody is turned away because the machine stands still for some seconds. */
	private ShopProcess start(Store store) {
		return ShopProcess.start(this.directory, store.argument, "--distributed-lock.waiting.outage-time=20s",
				"--distributed-lock.wait-time=25s");
	}

	private static void sellOut(ShopClient shops, long productId, String strategy) throws Exception {
		shops.setStock(productId, STOCK);
		assertThat(shops.rush(productId, strategy, CUSTOMERS, 16)).as(strategy)
			.isEqualTo(Map.of(200, STOCK, 409, CUSTOMERS - STOCK));
		JsonNode stock = shops.stock(productId);
		assertThat(stock.get("remaining").asInt()).as(stock.toString()).isZero();
		assertThat(stock.get("oversold").asInt()).as(stock.toString()).isZero();
		assertThat(stock.has("lost")).as(stock.toString()).isFalse();
	}

	private enum Store {

		/** The file of the shop, which its first instance serves to the others. */
		H2("--distributed-lock.store=jdbc", 5),

		POSTGRESQL("--spring.profiles.active=postgresql", 5),

		MARIADB("--spring.profiles.active=mariadb", 5),

		ZOOKEEPER("--spring.profiles.active=zookeeper", 5),

		/** Without the strategy in the order of arrival. */
		REDLOCK("--spring.profiles.active=redlock", 4);

		private final String argument;

		private final int strategies;

		Store(String argument, int strategies) {
			this.argument = argument;
			this.strategies = strategies;
		}

	}

}
