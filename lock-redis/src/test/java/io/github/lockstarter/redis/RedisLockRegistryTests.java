// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockRegistryTests;

/**
 * Instances that share a Redis server.
 */
class RedisLockRegistryTests extends AbstractLockRegistryTests {

	private static RedisServer redis;

	private static LettuceConnectionFactory connections;

	@BeforeAll
	static void startRedis() {
		redis = RedisServer.start();
		connections = new LettuceConnectionFactory("127.0.0.1", redis.port());
		connections.start();
	}

	@AfterAll
	static void stopRedis() {
		connections.destroy();
		redis.close();
	}

	@Override
	protected LockStore createStore() {
		return new RedisLockStore(connections, RedisLockSettings.DEFAULTS);
	}

}
