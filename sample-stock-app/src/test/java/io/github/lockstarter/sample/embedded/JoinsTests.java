// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Further instances join the servers of the first one, and take them over when it ends.
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
				awaitSale(second);
				assertThat(redis.findPort()).isEqualTo(port);
			}
			await().untilAsserted(() -> assertThat(redis.findPort()).isZero());
		}
	}

	@ParameterizedTest
	@EnumSource
	void instancesShareTheServersOfAProfile(StoreProfile profile) throws Exception {
		String argument = "--spring.profiles.active=" + profile.profile();
		HostFiles files = new HostFiles(profile, new SharedDirectory(this.directory));
		try (ShopProcess first = ShopProcess.start(this.directory, argument).awaitOpen()) {
			assertThat(first.log()).contains("Started the servers of the profile");
			ShopClient.of(first.port()).setStock(1, 10);
			try (ShopProcess second = ShopProcess.start(this.directory, argument).awaitOpen()) {
				assertThat(second.log()).contains("Joined the servers of the profile");
				assertThat(remaining(second)).isEqualTo(10);
				first.kill();
				awaitSale(second);
				assertThat(files.properties()).exists();
				second.kill();
			}
		}
		try (FileChannel host = files.host()) {
			// Waits for the end of the host
			assertTimeoutPreemptively(Duration.ofSeconds(30), () -> host.lock());
		}
		assertThat(files.properties()).doesNotExist();
	}

	private static void awaitSale(ShopProcess shop) {
		await().atMost(Duration.ofSeconds(30))
			.ignoreExceptions()
			.untilAsserted(
					() -> assertThat(ShopClient.of(shop.port()).deduct(1, "strategy=distributed-lock").statusCode())
						.isEqualTo(200));
	}

	private static int remaining(ShopProcess shop) {
		return ShopClient.of(shop.port()).stock(1).get("remaining").asInt();
	}

}
