// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.lockstarter.sample.ShopClient;
import io.github.lockstarter.sample.ShopProcess;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Further instances join the servers of the first one, and keep them when it crashes.
 * They end with the last one, even if that crashes as well.
 */
@Tag("clock")
@FullProfileOnly
class JoinsTests {

	@TempDir
	private Path directory;

	@ParameterizedTest
	@EnumSource
	void instancesShareAServer(EmbeddedServer server) throws Exception {
		String profile = "--spring.profiles.active=" + server.name().toLowerCase(Locale.ROOT);
		try (ShopProcess first = ShopProcess.start(this.directory, profile).awaitOpen()) {
			assertThat(first.log()).contains("Started " + server.properties()[0]);
			ShopClient.of(first.port()).setStock(1, 10);
			try (ShopProcess second = ShopProcess.start(this.directory, profile).awaitOpen()) {
				assertThat(second.log()).contains("Joined " + server.properties()[0]);
				assertThat(ShopClient.of(second.port()).stock(1).get("remaining").asInt()).isEqualTo(10);
				first.kill();
				await().atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> sells(second));
				second.kill();
			}
		}
		try (FileChannel locks = FileChannel.open(this.directory.resolve(server + ".lock"), StandardOpenOption.WRITE)) {
			await().atMost(Duration.ofMinutes(1)).until(() -> locks.tryLock() != null);
		}
	}

	private static boolean sells(ShopProcess shop) {
		return ShopClient.of(shop.port()).deduct(1, "strategy=distributed-lock").statusCode() == 200;
	}

}
