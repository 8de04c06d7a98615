// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import tools.jackson.databind.JsonNode;

import org.springframework.util.FileSystemUtils;

/**
 * Runs a thousand users against two instances of the packaged shop, strategy by strategy,
 * and fails if one that is said to be right does not keep the books or turns a customer
 * away, or if none keeps them. With the system property {@code demonstration.short} three
 * strategies sell less; {@code strategies} and {@code profiles} choose any others, and
 * the profiles of the shop.
 */
final class StockDemonstration {

	private static final boolean SHORT = System.getProperty("demonstration.short") != null;

	private static final int USERS = 1000;

	private static final int LOOPS = SHORT ? 4 : 10;

	private static final int STOCK = USERS * LOOPS / 2;

	/** The first requests of an instance take much longer. */
	private static final int REQUESTS_BEFORE = STOCK * 3 / 5;

	static final String STRATEGIES = "none,synchronized,optimistic-version,conditional-update,"
			+ "distributed-lock,distributed-lock-fenced-transaction";

	private static final String FEW_STRATEGIES = "none,distributed-lock,distributed-lock-fenced-transaction";

	private final Path target;

	private final JMeter jmeter;

	private StockDemonstration(Path target, JMeter jmeter) {
		this.target = target;
		this.jmeter = jmeter;
	}

	/**
	 * Run the demonstration.
	 * @param args the build directory, the name of the jar in it, the JMeter plan
	 */
	public static void main(String[] args) throws Exception {
		Path target = Path.of(args[0]);
		JMeter jmeter = JMeter.configuredBy(target.resolve("config.json"), Path.of(args[2]));
		new StockDemonstration(target, jmeter).run(target.resolve(args[1]));
	}

	private void run(Path jar) throws Exception {
		Path directory = Files.createTempDirectory(this.target, "demonstration-");
		// Nobody is turned away because the machine stands still for some seconds
		String[] arguments = { "--spring.profiles.active=" + System.getProperty("profiles", "default"),
				"--distributed-lock.waiting.outage-time=20s", "--distributed-lock.wait-time=50s" };
		try (ShopProcess first = ShopProcess.startJar(jar, directory, arguments);
				ShopProcess second = ShopProcess.startJar(jar, directory, arguments)) {
			first.awaitOpen();
			second.awaitOpen();
			Map<String, String> expectations = expectations(ShopClient.of(first.port(), second.port()));
			List<Row> rows = new ArrayList<>();
			for (Map.Entry<String, String> each : expectations.entrySet()) {
				rows.add(measure(1001 + rows.size(), each.getKey(), each.getValue(), first.port(), second.port()));
			}
			report(rows);
			rows.forEach(Row::verify);
		}
		finally {
			FileSystemUtils.deleteRecursively(directory);
		}
	}

	/**
	 * Return the expectations of the chosen strategies, before any of them is measured.
	 */
	private static Map<String, String> expectations(ShopClient shop) {
		Map<String, String> all = new HashMap<>();
		shop.json("/strategies")
			.forEach((each) -> all.put(each.get("name").asString(), each.get("expectation").asString()));
		Map<String, String> chosen = new LinkedHashMap<>();
		for (String name : System.getProperty("strategies", SHORT ? FEW_STRATEGIES : STRATEGIES)
			.strip()
			.split("\\s*,\\s*")) {
			String expectation = all.get(name);
			if (expectation == null) {
				throw new IllegalArgumentException("The shop has no strategy '" + name
						+ "'. Some need a profile, as in -Dprofiles=libraries. Strategies: "
						+ new TreeSet<>(all.keySet()));
			}
			chosen.put(name, expectation);
		}
		return chosen;
	}

	private Row measure(long productId, String strategy, String expectation, int port1, int port2) throws Exception {
		System.out.println("Demonstrating '" + strategy + "' with " + USERS + " users");
		ShopClient shop = ShopClient.of(port1, port2);
		shop.setStock(1, STOCK);
		shop.rush(1, strategy, REQUESTS_BEFORE, 50);
		shop.setStock(productId, STOCK);
		JMeter.Result result = this.jmeter.run(this.target.resolve("demonstration-" + strategy + ".jtl"),
				"-Jport1=" + port1, "-Jport2=" + port2, "-Jthreads=" + USERS, "-Jloops=" + LOOPS,
				"-Jproduct=" + productId, "-Jstrategy=" + strategy);
		return new Row(strategy, expectation, result, shop.stock(productId));
	}

	private void report(List<Row> rows) throws Exception {
		StringBuilder report = new StringBuilder();
		report.append("%n%d users, %d requests each, at two instances with a stock of %d:%n%n".formatted(USERS, LOOPS,
				STOCK));
		report.append(
				"| strategy | requests | sold | oversold | lost updates | requests/s | p50 ms | p99 ms | errors |\n");
		report.append("|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
		rows.forEach((row) -> report.append(row.toMarkdown()));
		System.out.println(report);
		Files.writeString(this.target.resolve("demonstration.md"), report.toString().strip() + "\n");
		Map<String, Long> sold = new LinkedHashMap<>();
		rows.forEach((row) -> sold.put(row.strategy, row.stock.get("sold").asLong()));
		Files.writeString(this.target.resolve("demonstration.svg"), SalesChart.svg(STOCK, sold) + "\n");
	}

	private record Row(String strategy, String expectation, JMeter.Result result, JsonNode stock) {

		private long oversold() {
			return this.stock.get("oversold").asLong();
		}

		private long lost() {
			return Math.abs(this.stock.path("lost").asLong(0));
		}

		String toMarkdown() {
			return "| %s | %d | %d | %d | %d | %d | %d | %d | %d |%n".formatted(this.strategy, this.result.requests(),
					this.stock.get("sold").asLong(), oversold(), lost(), this.result.perSecond(),
					this.result.percentile(50), this.result.percentile(99), this.result.errors());
		}

		void verify() {
			boolean correct = oversold() == 0 && lost() == 0;
			if (!this.expectation.equals("wrong") && !correct) {
				throw new IllegalStateException("'" + this.strategy + "' did not keep the books: " + this.stock);
			}
			if (this.expectation.equals("right") && this.result.errors() > 0) {
				throw new IllegalStateException(
						"'" + this.strategy + "' turned away " + this.result.errors() + " requests");
			}
			if (this.strategy.equals("none") && oversold() == 0) {
				throw new IllegalStateException("Nothing was oversold without a lock, so this load proves nothing");
			}
			// JMeter counts a sale with a lost response as an error
			if (Math.abs(this.stock.get("sold").asLong() - this.result.count("200")) > this.result.errors()) {
				throw new IllegalStateException("The shop confirmed " + this.result.count("200") + " sales with '"
						+ this.strategy + "', but booked " + this.stock);
			}
		}

	}

}
