// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import tools.jackson.databind.JsonNode;

/**
 * Runs a thousand users against two instances of the packaged shop, strategy by strategy,
 * and fails unless only the strategies with a distributed lock keep the stock correct.
 */
final class StockDemonstration {

	private static final int STOCK = 5000;

	private static final int USERS = 1000;

	private static final int LOOPS = 10;

	private static final List<String> STRATEGIES = List.of("none", "synchronized", "distributed-lock",
			"distributed-lock-fenced");

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
		try (ShopProcess first = ShopProcess.startJar(jar, directory);
				ShopProcess second = ShopProcess.startJar(jar, directory)) {
			first.awaitOpen();
			second.awaitOpen();
			List<Row> rows = new ArrayList<>();
			for (String strategy : STRATEGIES) {
				rows.add(measure(1001 + rows.size(), strategy, first.port(), second.port()));
			}
			report(rows);
			rows.forEach(Row::verify);
		}
	}

	private Row measure(long productId, String strategy, int port1, int port2) throws Exception {
		System.out.println("Demonstrating '" + strategy + "' with " + USERS + " users");
		ShopClient shop = ShopClient.of(port1, port2);
		shop.setStock(1, STOCK);
		shop.rush(1, strategy, 3000, 50);
		shop.setStock(productId, STOCK);
		JMeter.Result result = this.jmeter.run(this.target.resolve("demonstration-" + strategy + ".jtl"),
				"-Jport1=" + port1, "-Jport2=" + port2, "-Jthreads=" + USERS, "-Jloops=" + LOOPS,
				"-Jproduct=" + productId, "-Jstrategy=" + strategy);
		return new Row(strategy, result, shop.stock(productId));
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
	}

	private record Row(String strategy, JMeter.Result result, JsonNode stock) {

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
			if (this.strategy.startsWith("distributed-lock") && !correct) {
				throw new IllegalStateException("The distributed lock did not keep the books: " + this.stock);
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
