// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.backend.AbstractLockBackendTests;
import io.github.lockstarter.backend.LockBackend;

/**
 * The contract on a server of Redis, through one driver or the other.
 */
abstract class AbstractRedisLockBackendTests extends AbstractLockBackendTests {

	private final Driver driver;

	private final Map<LockBackend, Runnable> connections = new HashMap<>();

	AbstractRedisLockBackendTests(Driver driver) {
		this.driver = driver;
	}

	/**
	 * Return the server, empty before each test.
	 */
	abstract RedisStandaloneConfiguration server();

	@Override
	protected LockBackend createBackend() {
		RedisConnectionFactory factory;
		Runnable closing;
		if (this.driver == Driver.LETTUCE) {
			LettuceConnectionFactory lettuce = new LettuceConnectionFactory(server());
			lettuce.start();
			factory = lettuce;
			closing = lettuce::destroy;
		}
		else {
			JedisConnectionFactory jedis = new JedisConnectionFactory(server());
			jedis.start();
			factory = jedis;
			closing = jedis::destroy;
		}
		RedisLockBackend backend = new RedisLockBackend(factory, "lock:", Duration.ofHours(1));
		this.connections.put(backend, closing);
		return backend;
	}

	@Override
	protected void close(LockBackend backend) {
		((RedisLockBackend) backend).close();
		this.connections.remove(backend).run();
	}

	enum Driver {

		LETTUCE, JEDIS

	}

}
