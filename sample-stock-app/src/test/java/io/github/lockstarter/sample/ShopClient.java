// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.awaitility.Awaitility;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Client of one or more instances of the shop, which it calls in turn.
 */
public final class ShopClient {

	private static final JsonMapper json = JsonMapper.shared();

	private static final long UNKNOWN_PRODUCT = 404;

	private final HttpClient http = HttpClient.newHttpClient();

	private final List<Integer> ports;

	private ShopClient(List<Integer> ports) {
		this.ports = ports;
	}

	public static ShopClient of(Integer... ports) {
		return new ShopClient(List.of(ports));
	}

	public HttpResponse<String> setStock(long productId, String body) {
		return send(request(0, "/stock/" + productId).PUT(BodyPublishers.ofString(body))
			.header("Content-Type", "application/json"));
	}

	public void setStock(long productId, int count) {
		HttpResponse<String> response = setStock(productId, "{\"count\":" + count + "}");
		if (response.statusCode() != 200) {
			throw new IllegalStateException(response.body());
		}
	}

	public HttpResponse<String> get(String path) {
		return send(request(0, path));
	}

	public JsonNode json(String path) {
		return json.readTree(get(path).body());
	}

	public JsonNode stock(long productId) {
		return json("/stock/" + productId);
	}

	public HttpResponse<String> deduct(long productId, String query) {
		return deduct(0, productId, query);
	}

	private HttpResponse<String> deduct(int turn, long productId, String query) {
		return send(request(turn, "/stock/" + productId + "/deductions?" + query).POST(BodyPublishers.noBody()));
	}

	/**
	 * Start the report of a day.
	 */
	public HttpResponse<String> report(Object day) {
		return send(request(0, "/reports/" + day).POST(BodyPublishers.noBody()));
	}

	/**
	 * Ask the endpoint of the locks.
	 * @param path the rest of its address: empty, or a lock
	 */
	public HttpResponse<String> locks(String path) {
		return send(uri(0, "/actuator/locks" + path));
	}

	/**
	 * Free a lock.
	 * @param token the fencing token of its hold
	 */
	public HttpResponse<String> freeLock(String path, String token) {
		return send(uri(0, "/actuator/locks" + path + "?token=" + token).DELETE());
	}

	/**
	 * Wait until each instance is connected to the store of its locks. The first
	 * connection of a JVM may take seconds on a busy machine, and customers wait no
	 * longer than for an outage.
	 */
	public ShopClient awaitLocks() {
		for (int i = 0; i < this.ports.size(); i++) {
			int turn = i;
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.until(() -> deduct(turn, UNKNOWN_PRODUCT, "strategy=distributed-lock").statusCode() == 404);
		}
		return this;
	}

	/**
	 * Let many customers buy one unit each, at the same time.
	 * @return the number of responses by status
	 */
	public Map<Integer, Integer> rush(long productId, String strategy, int customers, int atOnce)
			throws InterruptedException, ExecutionException {
		ExecutorService executor = Executors.newFixedThreadPool(atOnce);
		try {
			List<Future<HttpResponse<String>>> answers = new ArrayList<>();
			for (int i = 0; i < customers; i++) {
				int turn = i;
				answers.add(executor.submit(() -> deduct(turn, productId, "strategy=" + strategy)));
			}
			Map<Integer, Integer> statuses = new TreeMap<>();
			for (Future<HttpResponse<String>> answer : answers) {
				statuses.merge(answer.get().statusCode(), 1, Integer::sum);
			}
			return statuses;
		}
		finally {
			executor.shutdownNow();
		}
	}

	private HttpRequest.Builder request(int turn, String path) {
		return uri(turn, "/api" + path);
	}

	private HttpRequest.Builder uri(int turn, String path) {
		int port = this.ports.get(turn % this.ports.size());
		return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).timeout(Duration.ofMinutes(2));
	}

	private HttpResponse<String> send(HttpRequest.Builder request) {
		try {
			return this.http.send(request.build(), BodyHandlers.ofString());
		}
		catch (IOException ex) {
			throw new IllegalStateException("The shop does not answer", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

}
