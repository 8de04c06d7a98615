// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import io.github.lockstarter.testsupport.TestImage;

/**
 * The contract on servers that are newer than the embedded one, where Docker runs.
 */
class RedisLockBackendContainerTests {

	@ImportAutoConfiguration(DataRedisAutoConfiguration.class)
	abstract static class Contract extends AbstractRedisLockBackendTests {

		@Autowired
		private DataRedisConnectionDetails details;

		@Autowired
		private RedisConnectionFactory connections;

		Contract() {
			super(Driver.LETTUCE);
		}

		@BeforeEach
		void emptyServer() {
			try (RedisConnection connection = this.connections.getConnection()) {
				connection.serverCommands().flushAll();
			}
		}

		@Override
		RedisStandaloneConfiguration server() {
			DataRedisConnectionDetails.Standalone server = this.details.getStandalone();
			return new RedisStandaloneConfiguration(server.getHost(), server.getPort());
		}

	}

	@Nested
	@Testcontainers(disabledWithoutDocker = true)
	@SpringJUnitConfig
	class WithRedis extends Contract {

		@Container
		@ServiceConnection("redis")
		static final GenericContainer<?> server = TestImage.REDIS.container();

	}

	@Nested
	@Testcontainers(disabledWithoutDocker = true)
	@SpringJUnitConfig
	class WithValkey extends Contract {

		@Container
		@ServiceConnection("redis")
		static final GenericContainer<?> server = TestImage.VALKEY.container();

	}

}
