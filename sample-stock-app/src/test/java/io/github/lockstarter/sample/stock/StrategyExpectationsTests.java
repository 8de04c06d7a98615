// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is said of each strategy is what happens. Two instances in two JVMs sell the same
 * products, and one of them is slow between its read and its write, or crashes there.
 */
@FullProfileOnly
class StrategyExpectationsTests {

	private static final int STOCK = 10;

	private static final String SUCCESS = "200";

	/** Longer than a customer of the shop waits for others, and than any lease. */
	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final ExecutorService customers = Executors.newCachedThreadPool();

	@TempDir
	private Path directory;

	@Test
	void eachIsAsRightAsItIsSaidToBe() {
		// The first one keeps the database and Redis, and does not crash
		try (ShopProcess quick = start("0s").awaitOpen(); ShopProcess slow = start("6s").awaitOpen()) {
			ShopClient shop = ShopClient.of(quick.port());
			List<Candidate> candidates = new ArrayList<>();
			for (JsonNode strategy : shop.json("/strategies")) {
				candidates.add(new Candidate(strategy.get("name").asString(), strategy.get("expectation").asString(),
						shop, ShopClient.of(slow.port()), 1000 + candidates.size()));
			}
			Map<String, Boolean> right = new TreeMap<>();
			sellBesideASlowOne(candidates, slow, right);
			sellAfterACrash(candidates, slow, right);
			Map<String, Boolean> expected = new TreeMap<>();
			candidates.forEach((candidate) -> expected.put(candidate.name, !candidate.expectation.equals("wrong")));
			assertThat(right).isEqualTo(expected).hasSizeGreaterThan(20);
		}
		finally {
			this.customers.shutdownNow();
		}
	}

	private ShopProcess start(String writeDelay) {
		return ShopProcess.start(this.directory, "--spring.profiles.active=libraries", "--shop.naive-lease-time=1s",
				"--distributed-lock.lease-time=5s", "--spring.datasource.hikari.maximum-pool-size=40",
				"--shop.write-delay=" + writeDelay);
	}

	/** A lock whose lease ends during the delay admits the quick one. */
	private void sellBesideASlowOne(List<Candidate> candidates, ShopProcess slow, Map<String, Boolean> right) {
		// The first sales of an instance take much longer
		beginSlowly(candidates, slow).forEach(CompletableFuture::join);
		List<CompletableFuture<String>> slowly = beginSlowly(candidates, slow);
		assertThat(slowly).as("all begin within the delay").noneMatch(CompletableFuture::isDone);
		List<CompletableFuture<Boolean>> quickly = run(candidates, Candidate::sellsInTime);
		for (int i = 0; i < candidates.size(); i++) {
			boolean sold = slowly.get(i).join().equals(SUCCESS) & quickly.get(i).join();
			right.put(candidates.get(i).name, sold && candidates.get(i).remaining() == STOCK - 2);
		}
	}

	/** A lock without an end is never free again. */
	private void sellAfterACrash(List<Candidate> candidates, ShopProcess slow, Map<String, Boolean> right) {
		List<Candidate> survivors = candidates.stream().filter((candidate) -> right.get(candidate.name)).toList();
		beginSlowly(survivors, slow);
		slow.kill();
		List<CompletableFuture<Boolean>> sales = run(survivors, Candidate::sellsInTime);
		for (int i = 0; i < survivors.size(); i++) {
			right.put(survivors.get(i).name, sales.get(i).join());
		}
	}

	private List<CompletableFuture<String>> beginSlowly(List<Candidate> candidates, ShopProcess slow) {
		int before = slow.log().length();
		candidates.forEach(Candidate::restock);
		List<CompletableFuture<String>> sales = run(candidates, (candidate) -> candidate.sell(candidate.slow));
		Awaitility.await().atMost(PATIENCE).until(() -> {
			String log = slow.log().substring(before);
			return candidates.stream().allMatch((candidate) -> log.contains("sale of product " + candidate.productId));
		});
		return sales;
	}

	private <T> List<CompletableFuture<T>> run(List<Candidate> candidates, Function<Candidate, T> sale) {
		return candidates.stream()
			.map((candidate) -> CompletableFuture.supplyAsync(() -> sale.apply(candidate), this.customers))
			.toList();
	}

	private record Candidate(String name, String expectation, ShopClient quick, ShopClient slow, long productId) {

		void restock() {
			this.quick.setStock(this.productId, STOCK);
		}

		String sell(ShopClient shop) {
			return String.valueOf(shop.deduct(this.productId, "strategy=" + this.name).statusCode());
		}

		boolean sellsInTime() {
			for (long end = System.nanoTime() + PATIENCE.toNanos(); System.nanoTime() - end < 0;) {
				if (sell(this.quick).equals(SUCCESS)) {
					return true;
				}
			}
			return false;
		}

		int remaining() {
			return this.quick.stock(this.productId).get("remaining").asInt();
		}

	}

}
