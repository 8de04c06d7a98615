// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Redis loses its data in the middle of a sale, as in a failover to a replica that has
 * not got the lock yet. The instance that sells does not know.
 */
@Tag("clock")
@FullProfileOnly
class LostLockTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	@TempDir
	private static Path directory;

	private static final RedisDatabase redis = SharedServers.redis();

	private static ShopProcess quick;

	private static ShopProcess slow;

	@BeforeAll
	static void open() {
		quick = start("0s").awaitOpen();
		slow = start("6s").awaitOpen();
		ShopClient.of(quick.port(), slow.port()).awaitLocks();
	}

	/**
	 * The loss of the lock is noticed after a third of the lease, and that is too late.
	 */
	private static ShopProcess start(String writeDelay) {
		return ShopProcess.start(directory, "--spring.data.redis.url=" + redis.url(),
				"--distributed-lock.lease-time=60s", "--shop.write-delay=" + writeDelay);
	}

	@AfterAll
	static void close() {
		ShopProcess.closeAll(quick, slow);
	}

	@ParameterizedTest
	@CsvSource({ "1001, distributed-lock, 9", "1002, distributed-lock-fenced, 8",
			"1003, distributed-lock-fenced-transaction, 8" })
	void onlyTheDatabaseRemembersTheSale(long productId, String strategy, int remaining) throws Exception {
		ShopClient.of(quick.port()).setStock(productId, 10);
		CompletableFuture<Void> first = CompletableFuture.runAsync(() -> sell(slow, productId, strategy));
		Awaitility.await().atMost(PATIENCE).until(() -> slow.log().contains("sale of product " + productId));
		redis.command("FLUSHDB");
		sell(quick, productId, strategy);
		first.join();
		JsonNode stock = ShopClient.of(quick.port()).stock(productId);
		assertThat(stock.get("sold").asInt()).isEqualTo(2);
		assertThat(stock.get("remaining").asInt()).isEqualTo(remaining);
	}

	/** Whether the answer tells of the loss is a matter of chance. */
	private static void sell(ShopProcess shop, long productId, String strategy) {
		ShopClient.of(shop.port()).deduct(productId, "strategy=" + strategy);
	}

}
