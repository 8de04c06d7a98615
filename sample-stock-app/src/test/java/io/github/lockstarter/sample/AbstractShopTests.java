// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;

/**
 * One instance of the shop, with databases of its own, that all tests of a JVM share.
 * Nobody waits for a lock, or between two attempts.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "distributed-lock.wait-time=0s", "shop.report.retry-delay=0s", "shop.report.cron=0 0 3 29 2 *",
				"shop.naive-lease-time=60s", "spring.datasource.url=jdbc:h2:mem:shop;LOCK_TIMEOUT=60000",
				"spring.datasource.username=sa" })
@Import(ShopProbes.class)
public abstract class AbstractShopTests {

	private static final RedisDatabase redis = SharedServers.redis();

	@DynamicPropertySource
	static void properties(DynamicPropertyRegistry registry) {
		registry.add("spring.data.redis.url", redis::url);
	}

	/**
	 * The first lock may take longer than the machine allows a call that does not wait.
	 */
	@BeforeAll
	static void connect(@Autowired LockRegistry locks) {
		LockRequest first = LockRequest.of("first").withWaitTime(Duration.ofMinutes(1));
		Awaitility.await().ignoreExceptions().untilAsserted(() -> locks.acquire(first).close());
	}

}
