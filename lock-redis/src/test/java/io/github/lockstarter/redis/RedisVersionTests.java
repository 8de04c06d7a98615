// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.junit.jupiter.api.Test;

import io.github.lockstarter.servers.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tests run on the requested version of Redis, so that tests for an old version do
 * not pass on a new one.
 */
class RedisVersionTests {

	@Test
	void theServerHasTheVersionThatWasAskedFor() {
		String expected = System.getProperty("redis.version", "7.0");
		try (RedisServer redis = RedisServer.start()) {
			assertThat(redis.version()).startsWith(expected + ".");
		}
	}

}
