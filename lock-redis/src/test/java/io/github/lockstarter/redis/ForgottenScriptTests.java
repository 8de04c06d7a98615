// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.testsupport.EmbeddedRedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server that forgets scripts while locks are held.
 */
class ForgottenScriptTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001);

	@AutoClose
	private final EmbeddedRedis redis = EmbeddedRedis.start();

	@AutoClose
	private final RedisRegistry registry = RedisRegistry.lettuce(this.redis);

	@Test
	void aLockThatWasReleasedIsFreeForTheSameInstance() {
		for (int i = 0; i < 200; i++) {
			this.redis.command("SCRIPT", "FLUSH");
			this.registry.acquire(REQUEST).close();
			assertThat(this.registry.tryAcquire(REQUEST.withWaitTime(Duration.ZERO))).as("acquisition " + i)
				.hasValueSatisfying(Lease::close);
		}
	}

}
