// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.testsupport.FullProfileOnly;

class RedisLockStoreTests {

	private static LettuceConnectionFactory lettuce;

	private static JedisConnectionFactory jedis;

	@BeforeAll
	static void connect() {
		RedisStandaloneConfiguration server = RedisRegistry.server(SharedServers.redis());
		lettuce = new LettuceConnectionFactory(server);
		lettuce.start();
		jedis = RedisRegistry.jedis(server);
		jedis.start();
	}

	@AfterAll
	static void disconnect() {
		lettuce.destroy();
		jedis.destroy();
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
