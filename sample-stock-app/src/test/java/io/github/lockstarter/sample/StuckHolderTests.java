// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import io.github.lockstarter.test.Callers;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One of two instances is stopped while it holds a lock that another caller waits for in
 * it, and somebody finds and frees it as docs/observability.md says.
 */
@Tag("clock")
@FullProfileOnly
class StuckHolderTests {

	private static final long PRODUCT = 1001;

	private static final String SALE = "strategy=distributed-lock";

	private static final String DELAYED = "Delaying the sale of product " + PRODUCT;

	private static final String LOCK = "/stock/" + PRODUCT;

	@TempDir
	private Path directory;

	private ShopProcess start(String name, String delay, String waitTime) {
		return ShopProcess
			.start(this.directory, "--distributed-lock.instance-name=" + name,
					"--management.endpoints.web.exposure.include=*", "--management.endpoint.locks.access=unrestricted",
					"--distributed-lock.locks.stock.wait-time=" + waitTime,
					"--distributed-lock.locks.stock.on-lost=interrupt", "--distributed-lock.warn-after-wait=500ms",
					"--shop.write-delay=" + delay)
			.awaitOpen();
	}

	@Test
	void itIsNamedByExceptionLogAndEndpointAndLosesTheLockThatIsFreed() throws Exception {
		// Its servers are those of the other one, too
		try (ShopProcess shop = start("shop@a:1", "20s", "3s"); ShopProcess stuck = start("shop@b:2", "1h", "1h")) {
			ShopClient client = ShopClient.of(shop.port()).awaitLocks();
			client.setStock(PRODUCT, 10);
			Callers.Call<HttpResponse<String>> late = Callers
				.start(() -> ShopClient.of(stuck.port()).deduct(PRODUCT, SALE));
			await(() -> stuck.log().contains(DELAYED));
			Callers.start(() -> ShopClient.of(stuck.port()).deduct(PRODUCT, SALE));
			await(() -> here(stuck).at("/waiting").size() == 1);
			Callers.Call<HttpResponse<String>> next;
			stuck.pause();
			try {
				assertThat(client.deduct(PRODUCT, SALE).body()).contains("Lock 'stock:1001' did not become free within",
						"held by shop@b:2");
				assertThat(shop.log()).containsPattern("Long wait for lock 'stock:1001'.*held by shop@b:2");
				JsonNode lock = JsonMapper.shared().readTree(client.locks(LOCK).body());
				assertThat(lock.at("/holders/0/instance").asString()).isEqualTo("shop@b:2");
				assertThat(client.freeLock(LOCK, "4096").statusCode()).isEqualTo(409);
				assertThat(client.freeLock(LOCK, lock.get("fencingToken").asString()).statusCode()).isEqualTo(200);
				next = Callers.start(() -> client.deduct(PRODUCT, SALE));
				await(() -> shop.log().contains(DELAYED));
			}
			finally {
				stuck.resume();
			}
			HttpResponse<String> refused = late.get();
			assertThat(refused.statusCode()).isEqualTo(500);
			assertThat(refused.body()).contains("Lock 'stock:1001'", "was lost");
			assertThat(here(stuck).at("/held").isEmpty()).isTrue();
			assertThat(here(stuck).at("/waiting").size()).isOne();
			assertThat(next.result()).isNotDone();
			assertThat(next.get().statusCode()).isEqualTo(200);
			assertThat(client.stock(PRODUCT).get("remaining").asInt()).isEqualTo(9);
			assertThat(client.stock(PRODUCT).get("sold").asInt()).isEqualTo(1);
		}
	}

	private static JsonNode here(ShopProcess shop) {
		return JsonMapper.shared().readTree(ShopClient.of(shop.port()).locks(LOCK).body()).get("here");
	}

	private static void await(Callable<Boolean> condition) {
		Awaitility.await().atMost(Duration.ofMinutes(1)).until(condition);
	}

}
