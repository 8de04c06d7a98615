// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two instances in two JVMs sell the same products. The runs without the distributed lock
 * are the control: they show that the load causes overselling.
 */
class StockServiceOversellTests {

	private static final int STOCK = 300;

	private static final int CUSTOMERS = 600;

	private static ShopProcess first;

	private static ShopProcess second;

	@BeforeAll
	static void open(@TempDir Path directory) {
		first = start(directory);
		second = start(directory);
		first.awaitOpen();
		second.awaitOpen();
		bothInstances().awaitLocks();
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
	void noneOversells() throws Exception {
		assertThat(rush(1, "none", bothInstances()).soldWrongly()).isTrue();
	}

	@Test
	void synchronizedIsCorrectInOneInstance() throws Exception {
		assertSoldOutExactly(rush(2, "synchronized", ShopClient.of(first.port())));
	}

	@Test
	void synchronizedOversellsWithTwoInstances() throws Exception {
		assertThat(rush(3, "synchronized", bothInstances()).soldWrongly()).isTrue();
	}

	@Test
	void distributedLockNeverOversells() throws Exception {
		assertSoldOutExactly(rush(4, "distributed-lock", bothInstances()));
	}

	@Test
	void distributedLockWithFencingNeverOversells() throws Exception {
		assertSoldOutExactly(rush(5, "distributed-lock-fenced", bothInstances()));
	}

	@Test
	void distributedLockWithFencedTransactionsNeverOversells() throws Exception {
		assertSoldOutExactly(rush(7, "distributed-lock-fenced-transaction", bothInstances()));
	}

	@Test
	void distributedLockInOrderOfArrivalNeverOversells() throws Exception {
		assertSoldOutExactly(rush(6, "distributed-lock-fair", bothInstances()));
	}

	private static ShopClient bothInstances() {
		return ShopClient.of(first.port(), second.port());
	}

	private static Outcome rush(long productId, String strategy, ShopClient client) throws Exception {
		client.setStock(productId, STOCK);
		Map<Integer, Integer> statuses = client.rush(productId, strategy, CUSTOMERS, 16);
		return new Outcome(statuses, client.stock(productId));
	}

	private static void assertSoldOutExactly(Outcome outcome) {
		assertThat(outcome.soldWrongly()).as(outcome.toString()).isFalse();
		assertThat(outcome.statuses()).isEqualTo(Map.of(200, STOCK, 409, CUSTOMERS - STOCK));
		assertThat(outcome.stock().get("remaining").asInt()).isZero();
	}

	private record Outcome(Map<Integer, Integer> statuses, JsonNode stock) {

		boolean soldWrongly() {
			return this.stock.get("oversold").asInt() > 0 || this.stock.has("lost");
		}

	}

}
