// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.testsupport.FullProfileOnly;

class RedisLockStoreTests {

	private static RedisServer redis;

	private static LettuceConnectionFactory lettuce;

	private static JedisConnectionFactory jedis;

	@BeforeAll
	static void startRedis() {
		redis = RedisServer.start();
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", redis.port());
		lettuce = new LettuceConnectionFactory(server);
		lettuce.start();
		jedis = RedisRegistry.jedis(server);
		jedis.start();
	}

	@AfterAll
	static void stopRedis() {
		lettuce.destroy();
		jedis.destroy();
		redis.close();
	}

	@Nested
	class WithLettuce extends AbstractRedisLockStoreTests {

		@Override
		RedisConnectionFactory connections() {
			return lettuce;
		}

	}

	@Nested
	@FullProfileOnly
	class WithJedis extends AbstractRedisLockStoreTests {

		@Override
		RedisConnectionFactory connections() {
			return jedis;
		}

	}

}
