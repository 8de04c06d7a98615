// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is said of each strategy is what happens when two instances in two JVMs sell the
 * same products, and one of them is slow between its read and its write, or crashes
 * there.
 */
@Tag("clock")
@FullProfileOnly
class StrategyExpectationsTests {

	private static final int STOCK = 10;

	/** They take no time unless a candidate has to sell again. */
	private static final int RETRIES = 3;

	/** Those whose locks nobody releases after a crash. */
	private static final Set<String> WITHOUT_END = Set.of("lock-table", "redis-setnx");

	/** Longer than a customer of the shop waits for others, and than any lease. */
	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final ExecutorService customers = Executors.newCachedThreadPool();

	private final RedisServer redis = RedisServer.start();

	@TempDir
	private Path directory;

	@AfterEach
	void close() {
		this.customers.shutdownNow();
		this.redis.close();
	}

	@Test
	void eachIsAsRightAsItIsSaidToBe() throws Exception {
		// The first one keeps the database and does not crash
		try (ShopProcess quick = start("0s").awaitOpen(); ShopProcess slow = start("6s").awaitOpen()) {
			List<Candidate> candidates = candidates(ShopClient.of(quick.port()), ShopClient.of(slow.port()));
			Map<String, Outcome> outcomes = new TreeMap<>();
			sellBesideASlowOne(candidates, slow, outcomes);
			for (int i = 0; i < RETRIES; i++) {
				sellBesideASlowOne(tooLate(candidates, outcomes), slow, outcomes);
			}
			sellAfterACrash(candidates, slow, outcomes);
			assertThat(candidates).hasSizeGreaterThan(25).allSatisfy((candidate) -> {
				Outcome outcome = outcomes.get(candidate.name);
				SafetyViolation.check(candidate.isWrong() || outcome != Outcome.LOST_AN_UPDATE, "'%s' lost an update",
						candidate.name);
				assertThat(outcome).as(candidate.name).isNotEqualTo(Outcome.REFUSED);
				assertThat(outcome != Outcome.SOLD).as("%s %s", candidate.name, outcome).isEqualTo(candidate.isWrong());
			});
		}
	}

	/**
	 * A lease is shorter than the delay of the slow one, and only renewals keep it. It
	 * has so many that it lasts although the machine stands still for some seconds.
	 */
	private ShopProcess start(String writeDelay) {
		return ShopProcess.start(this.directory, "--spring.profiles.active=jpa,libraries,stores",
				"--spring.data.redis.url=redis://" + this.redis.address(), "--shop.naive-lease-time=1s",
				"--distributed-lock.lease-time=5s", "--distributed-lock.watchdog.renewals-per-lease=20",
				"--distributed-lock.waiting.outage-time=20s", "--spring.datasource.hikari.maximum-pool-size=40",
				"--shop.write-delay=" + writeDelay);
	}

	private static List<Candidate> candidates(ShopClient quick, ShopClient slow) {
		List<Candidate> candidates = new ArrayList<>();
		for (JsonNode strategy : quick.json("/strategies")) {
			candidates.add(new Candidate(strategy.get("name").asString(), strategy.get("expectation").asString(), quick,
					slow, 1000 + candidates.size()));
		}
		return candidates;
	}

	/**
	 * On a busy machine the quick one may come after the delay, where nothing is wrong.
	 */
	private static List<Candidate> tooLate(List<Candidate> candidates, Map<String, Outcome> outcomes) {
		return candidates.stream()
			.filter((candidate) -> candidate.isWrong() && !WITHOUT_END.contains(candidate.name)
					&& outcomes.get(candidate.name) == Outcome.SOLD)
			.toList();
	}

	/** A lock whose lease ends during the delay admits the quick one. */
	private void sellBesideASlowOne(List<Candidate> candidates, ShopProcess slow, Map<String, Outcome> outcomes) {
		// The first sales of an instance take much longer
		beginSlowly(candidates, slow).forEach(CompletableFuture::join);
		List<CompletableFuture<Boolean>> slowly = beginSlowly(candidates, slow);
		assertThat(slowly).as("all begin within the delay").noneMatch(CompletableFuture::isDone);
		List<CompletableFuture<Boolean>> quickly = run(candidates, Candidate::sellsInTime);
		for (int i = 0; i < candidates.size(); i++) {
			boolean sold = slowly.get(i).join() & quickly.get(i).join();
			boolean counted = candidates.get(i).remaining() == STOCK - 2;
			outcomes.put(candidates.get(i).name,
					!sold ? Outcome.REFUSED : counted ? Outcome.SOLD : Outcome.LOST_AN_UPDATE);
		}
	}

	/** A lock without an end is never free again, and nobody need wait for it. */
	private void sellAfterACrash(List<Candidate> candidates, ShopProcess slow, Map<String, Outcome> outcomes)
			throws Exception {
		List<Candidate> survivors = candidates.stream()
			.filter((candidate) -> outcomes.get(candidate.name) == Outcome.SOLD)
			.toList();
		beginSlowly(survivors, slow);
		slow.kill();
		List<Candidate> locked = locked(survivors);
		assertThat(locked).extracting(Candidate::name).containsExactlyInAnyOrderElementsOf(WITHOUT_END);
		locked.forEach((candidate) -> outcomes.put(candidate.name, Outcome.NEVER_FREE_AGAIN));
		List<Candidate> others = survivors.stream().filter((candidate) -> !locked.contains(candidate)).toList();
		List<CompletableFuture<Boolean>> sales = run(others, Candidate::sellsInTime);
		for (int i = 0; i < others.size(); i++) {
			outcomes.put(others.get(i).name, sales.get(i).join() ? Outcome.SOLD : Outcome.NEVER_FREE_AGAIN);
		}
	}

	/** Return those with a lock in the table, or in a key without an end. */
	private List<Candidate> locked(List<Candidate> candidates) throws Exception {
		List<Long> rows = JdbcClient
			.create(new DriverManagerDataSource(ShopProcess.databaseUrl(this.directory), "sa", ""))
			.sql("select product_id from sale_lock")
			.query(Long.class)
			.list();
		return candidates.stream()
			.filter((candidate) -> rows.contains(candidate.productId)
					|| this.redis.command("TTL", candidate.name + ":" + candidate.productId).equals("-1"))
			.toList();
	}

	/** Let all of them sell in the slow instance, and wait until they have begun. */
	private List<CompletableFuture<Boolean>> beginSlowly(List<Candidate> candidates, ShopProcess slow) {
		int before = slow.log().length();
		candidates.forEach(Candidate::restock);
		List<CompletableFuture<Boolean>> sales = run(candidates, (candidate) -> candidate.sells(candidate.slow));
		Awaitility.await().atMost(PATIENCE).until(() -> {
			String log = slow.log().substring(before);
			return candidates.stream().allMatch((candidate) -> log.contains("sale of product " + candidate.productId));
		});
		return sales;
	}

	private List<CompletableFuture<Boolean>> run(List<Candidate> candidates, Function<Candidate, Boolean> sale) {
		return candidates.stream()
			.map((candidate) -> CompletableFuture.supplyAsync(() -> sale.apply(candidate), this.customers))
			.toList();
	}

	private enum Outcome {

		SOLD,

		/** Both have sold a piece, but the stock shows one sale. */
		LOST_AN_UPDATE,

		/** After a crash nobody can sell. */
		NEVER_FREE_AGAIN,

		/** A customer went away with nothing, without any crash. */
		REFUSED

	}

	private record Candidate(String name, String expectation, ShopClient quick, ShopClient slow, long productId) {

		boolean isWrong() {
			return this.expectation.equals("wrong");
		}

		void restock() {
			this.quick.setStock(this.productId, STOCK);
		}

		boolean sells(ShopClient shop) {
			return shop.deduct(this.productId, "strategy=" + this.name).statusCode() == 200;
		}

		boolean sellsInTime() {
			for (long end = System.nanoTime() + PATIENCE.toNanos(); System.nanoTime() - end < 0;) {
				if (sells(this.quick)) {
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
