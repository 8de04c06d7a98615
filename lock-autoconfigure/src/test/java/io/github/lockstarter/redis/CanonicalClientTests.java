// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.testsupport.Callers;
import io.github.lockstarter.testsupport.Callers.Call;
import io.github.lockstarter.testsupport.EmbeddedRedis;
import io.github.lockstarter.testsupport.RedisSocket;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A program in another language that follows the <a href=
 * "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Redis
 * documentation</a> and knows nothing of this library.
 */
class CanonicalClientTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	private static final String COMPARE_AND_DELETE = """
			if redis.call("get",KEYS[1]) == ARGV[1] then
			    return redis.call("del",KEYS[1])
			else
			    return 0
			end""";

	@AutoClose
	private static final EmbeddedRedis redis = EmbeddedRedis.start();

	@AutoClose
	private final RedisRegistry registry = RedisRegistry.lettuce(redis);

	@AutoClose
	private final RedisSocket client = new RedisSocket(redis.port());

	@Test
	void itIsExcludedWhileWeHoldTheLock() {
		Lease lease = this.registry.acquire(REQUEST);
		assertThat(lock()).isEqualTo("(nil)");
		assertThat(unlock()).isEqualTo("0");
		assertThat(lease.isHeld()).isTrue();
		lease.close();
		assertThat(lock()).isEqualTo("OK");
		assertThat(unlock()).isEqualTo("1");
	}

	@Test
	void itExcludesUsWhileItHoldsTheLock() throws Exception {
		assertThat(lock()).isEqualTo("OK");
		assertThat(this.registry.tryAcquire(REQUEST.withWaitTime(Duration.ZERO))).isEmpty();
		Call<Boolean> waiter = Callers.start(() -> {
			this.registry.acquire(REQUEST).close();
			return true;
		}).awaitParked();
		assertThat(this.client.command("GET", "lock:{stock:1001}")).isEqualTo("python");
		assertThat(unlock()).isEqualTo("1");
		assertThat(waiter.get()).isTrue();
	}

	private String lock() {
		return this.client.command("SET", "lock:{stock:1001}", "python", "NX", "PX", "30000");
	}

	private String unlock() {
		return this.client.command("EVAL", COMPARE_AND_DELETE, "1", "lock:{stock:1001}", "python");
	}

}
