// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Instances that compete for a lock from different distances to the server.
 */
@FullProfileOnly
@Tag("clock")
class DistantInstancesTests {

	private static final int GRANTS = 30;

	private static final Duration HOLD = Duration.ofMillis(10);

	@AutoClose
	private final RedisServer redis = RedisServer.start();

	@ParameterizedTest(name = "{0}, {1} ms away")
	@CsvSource({ "EXCLUSIVE, 5", "EXCLUSIVE, 30", "EXCLUSIVE, 100", "FAIR, 5", "FAIR, 30", "FAIR, 100" })
	void oneThatIsFarAwayHasItsShare(LockMode mode, long distance) throws Exception {
		LockRequest request = LockRequest.of("stock", 1001).withMode(mode);
		try (Network way = Network.to(this.redis.port(), Duration.ofMillis(distance));
				RedisRegistry far = RedisRegistry.of(RedisRegistry.connections(RedisRegistry.server(way.port())),
						RedisRegistry.SETTINGS);
				RedisRegistry near = RedisRegistry.lettuce(this.redis)) {
			AtomicInteger left = new AtomicInteger(GRANTS);
			Lease first = near.acquire(request);
			Call<Integer> farLoop = Callers.start(() -> loop(far, request, left));
			Awaitility.await().until(() -> this.redis.command("EXISTS", "lock:{stock:1001}:queue").equals("1"));
			Call<Integer> nearLoop = Callers.start(() -> loop(near, request, left));
			first.close();
			int even = GRANTS / 2;
			assertThat(farLoop.get()).as("grants of the distant instance").isBetween(even * 4 / 5, even * 6 / 5);
			assertThat(nearLoop.get()).as("grants of the near instance").isBetween(even * 4 / 5, even * 6 / 5);
		}
	}

	private static int loop(RedisRegistry registry, LockRequest request, AtomicInteger left) throws Exception {
		int grants = 0;
		while (left.get() > 0) {
			try (Lease lease = registry.acquire(request)) {
				if (left.getAndDecrement() > 0) {
					grants++;
				}
				Thread.sleep(HOLD.toMillis());
			}
		}
		return grants;
	}

}
