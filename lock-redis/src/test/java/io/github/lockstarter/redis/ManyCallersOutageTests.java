// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Many asynchronous callers that wait for one lock when Redis dies.
 */
class ManyCallersOutageTests {

	@Test
	@FullProfileOnly
	void allLearnOfTheOutage() {
		allLearnOfTheOutage(50_000, Duration.ofSeconds(30));
	}

	@Test
	void allAreNotifiedWhenTheirWaitTimesEnd() {
		allLearnOfTheOutage(10_000, Duration.ofMillis(500));
	}

	private static void allLearnOfTheOutage(int callers, Duration waitTime) {
		try (EmbeddedRedis redis = EmbeddedRedis.start();
				RedisRegistry registry = RedisRegistry.lettuce(redis, EngineSettings.DEFAULTS)) {
			registry.awaitConnected(redis);
			redis.kill();
			LockRequest request = LockRequest.of("stock", 1).withWaitTime(waitTime);
			List<CompletableFuture<Lease>> all = Stream.generate(() -> registry.acquireAsync(request))
				.limit(callers)
				.toList();
			Awaitility.await()
				.atMost(Duration.ofMinutes(1))
				.untilAsserted(() -> assertThat(all.stream().filter((each) -> !each.isDone()).count())
					.as("callers that are not notified")
					.isZero());
		}
	}

	@Test
	void aCallerBehindAnotherOneLearnsOfTheOutage() {
		try (EmbeddedRedis redis = EmbeddedRedis.start(); RedisRegistry registry = RedisRegistry.lettuce(redis)) {
			registry.awaitConnected(redis);
			redis.pause();
			CompletableFuture<Lease> before = registry.acquireAsync(LockRequest.of("stock", 1));
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> registry.acquire(LockRequest.of("stock", 1).withWaitTime(Duration.ofMillis(700))));
			before.cancel(false);
			redis.resume();
		}
	}

}
