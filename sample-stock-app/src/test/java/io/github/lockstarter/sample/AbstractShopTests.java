// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * One instance of the shop that all tests of a JVM share, with the Redis and the database
 * that it starts by itself, and a second one for those that want it. No lease ends and no
 * customer gives up before the machine has stood still for a minute, unless a test says
 * so.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "distributed-lock.wait-time=1m", "distributed-lock.lease-time=5m",
				"distributed-lock.waiting.outage-time=1m", "distributed-lock.locks.lost-lease.wait-time=0s",
				"shop.report.retry-delay=0s", "shop.report.cron=0 0 3 29 2 *", "shop.naive-lease-time=60s",
				"spring.datasource.hikari.connection-init-sql=set lock_timeout 60000" })
@Import(ShopProbes.class)
public abstract class AbstractShopTests {

	/** Where other instances find the servers of this one. */
	static final Path DIRECTORY = directory();

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		registry.add("shop.directory", DIRECTORY::toString);
	}

	private static Path directory() {
		try {
			return Files.createTempDirectory(Path.of("target"), "shop-");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
