// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.Map;

import tools.jackson.databind.JsonNode;

/**
 * Sells in the packaged shop as it was processed ahead of time, and fails if the books
 * are wrong, or the transactions were not under a lock.
 */
final class AheadOfTimeSales {

	private static final long PRODUCT = 1001;

	private AheadOfTimeSales() {
	}

	/**
	 * Run the shop.
	 * @param args the build directory, the name of the jar in it
	 */
	public static void main(String[] args) throws Exception {
		Path target = Path.of(args[0]);
		Path directory = Files.createTempDirectory(target, "aot-");
		// Nobody is turned away because the machine stands still for some seconds
		try (ShopProcess shop = ShopProcess.startProcessed(target.resolve(args[1]), directory,
				"--distributed-lock.waiting.outage-time=20s", "--distributed-lock.wait-time=50s",
				"--management.endpoints.web.exposure.include=health,locks")) {
			shop.awaitOpen();
			require(shop.log().contains("AOT-processed"), "it was not processed ahead of time");
			ShopClient client = ShopClient.of(shop.port()).awaitLocks();
			for (String strategy : List.of("distributed-lock", "distributed-lock-fenced-transaction")) {
				client.setStock(PRODUCT, 20);
				Map<Integer, Integer> answers = client.rush(PRODUCT, strategy, 30, 10);
				JsonNode stock = client.stock(PRODUCT);
				require(answers.equals(Map.of(200, 20, 409, 10)) && stock.get("remaining").asInt() == 0
						&& stock.get("oversold").asInt() == 0,
						strategy + " has sold " + stock + ", answers " + answers);
			}
			HttpResponse<String> lock = client.locks("/stock/" + PRODUCT);
			require(lock.statusCode() == 200 && lock.body().contains("\"fencingToken\":"),
					"its endpoint says of the lock: " + lock.body());
			require(lastToken(directory) > 0, "no transaction has claimed the fencing token of its lock");
		}
	}

	private static long lastToken(Path directory) throws Exception {
		try (Connection connection = DriverManager.getConnection(ShopProcess.databaseUrl(directory), "sa", "");
				Statement statement = connection.createStatement();
				ResultSet token = statement.executeQuery("select max(token) from distributed_lock_fence")) {
			token.next();
			return token.getLong(1);
		}
	}

	private static void require(boolean condition, String otherwise) {
		if (!condition) {
			throw new IllegalStateException("The shop is wrong: " + otherwise);
		}
	}

}
