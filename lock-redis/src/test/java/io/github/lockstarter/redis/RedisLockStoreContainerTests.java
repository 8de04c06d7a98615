// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.junit.jupiter.api.Nested;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import io.github.lockstarter.testsupport.FullProfileOnly;
import io.github.lockstarter.testsupport.TestImage;

/**
 * The contract on current servers, if Docker is available.
 */
@FullProfileOnly
@Testcontainers(disabledWithoutDocker = true)
class RedisLockStoreContainerTests {

	abstract static class OnContainer extends AbstractRedisLockStoreTests {

		@Autowired
		private RedisConnectionFactory connections;

		@Override
		RedisConnectionFactory connections() {
			return this.connections;
		}

	}

	@Nested
	@SpringJUnitConfig(RedisClient.class)
	class OnRedis extends OnContainer {

		@Container
		@ServiceConnection("redis")
		static final GenericContainer<?> server = TestImage.REDIS.container();

	}

	@Nested
	@SpringJUnitConfig(RedisClient.class)
	class OnValkey extends OnContainer {

		@Container
		@ServiceConnection("redis")
		static final GenericContainer<?> server = TestImage.VALKEY.container();

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DataRedisAutoConfiguration.class)
	static class RedisClient {

	}

}
