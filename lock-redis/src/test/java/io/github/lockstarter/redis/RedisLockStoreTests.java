// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockStoreTests;
import io.github.lockstarter.testsupport.EmbeddedRedis;

class RedisLockStoreTests {

	private static EmbeddedRedis redis;

	private static LettuceConnectionFactory lettuce;

	private static JedisConnectionFactory jedis;

	@BeforeAll
	static void startRedis() {
		redis = EmbeddedRedis.start();
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("127.0.0.1", redis.port());
		lettuce = new LettuceConnectionFactory(server);
		lettuce.start();
		jedis = new JedisConnectionFactory(server);
		jedis.start();
	}

	@AfterAll
	static void stopRedis() {
		lettuce.destroy();
		jedis.destroy();
		redis.close();
	}

	@Nested
	class WithLettuce extends AbstractLockStoreTests {

		@Override
		protected LockStore createStore() {
			return new RedisLockStore(lettuce, RedisLockSettings.DEFAULTS);
		}

	}

	@Nested
	class WithJedis extends AbstractLockStoreTests {

		@Override
		protected LockStore createStore() {
			return new RedisLockStore(jedis, RedisLockSettings.DEFAULTS);
		}

	}

}
