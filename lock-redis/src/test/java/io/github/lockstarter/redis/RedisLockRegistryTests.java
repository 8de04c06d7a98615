// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockRegistryTests;

/**
 * Instances that share a Redis server.
 */
class RedisLockRegistryTests extends AbstractLockRegistryTests {

	private static LettuceConnectionFactory connections;

	@BeforeAll
	static void connect() {
		connections = new LettuceConnectionFactory(RedisRegistry.server(SharedServers.redis()));
		connections.start();
	}

	@AfterAll
	static void disconnect() {
		connections.destroy();
	}

	@Override
	protected LockStore createStore() {
		return new RedisLockStore(connections, RedisLockSettings.DEFAULTS);
	}

}
