// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import io.github.lockstarter.testsupport.EmbeddedRedis;

class RedisLockBackendTests {

	@AutoClose
	private static final EmbeddedRedis redis = EmbeddedRedis.start();

	@BeforeEach
	void emptyRedis() {
		redis.command("FLUSHALL");
	}

	@Nested
	class WithLettuce extends AbstractRedisLockBackendTests {

		WithLettuce() {
			super(Driver.LETTUCE);
		}

		@Override
		RedisStandaloneConfiguration server() {
			return new RedisStandaloneConfiguration("127.0.0.1", redis.port());
		}

	}

	@Nested
	class WithJedis extends AbstractRedisLockBackendTests {

		WithJedis() {
			super(Driver.JEDIS);
		}

		@Override
		RedisStandaloneConfiguration server() {
			return new RedisStandaloneConfiguration("127.0.0.1", redis.port());
		}

	}

}
