// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Further instances join the Redis and the database of the first one, and take them over
 * when it ends.
 */
@FullProfileOnly
class JoinsTests {

	@TempDir
	private Path directory;

	@Test
	void instancesShareRedisAndDatabase() throws Exception {
		RedisProcess redis = new RedisProcess(new SharedDirectory(this.directory));
		try (ShopProcess first = ShopProcess.start(this.directory).awaitOpen()) {
			int port = redis.findPort();
			assertThat(first.log()).contains("Started the embedded Redis on loopback port " + port);
			ShopClient.of(first.port()).setStock(1, 10);
			try (ShopProcess second = ShopProcess.start(this.directory).awaitOpen()) {
				assertThat(second.log()).contains("Joined the embedded Redis on loopback port " + port);
				assertThat(remaining(second)).isEqualTo(10);
				first.kill();
				await().atMost(Duration.ofSeconds(30))
					.ignoreExceptions()
					.untilAsserted(() -> assertThat(
							ShopClient.of(second.port()).deduct(1, "strategy=distributed-lock").statusCode())
						.isEqualTo(200));
				assertThat(redis.findPort()).isEqualTo(port);
			}
			await().untilAsserted(() -> assertThat(redis.findPort()).isZero());
		}
	}

	private static int remaining(ShopProcess shop) {
		return ShopClient.of(shop.port()).stock(1).get("remaining").asInt();
	}

}
