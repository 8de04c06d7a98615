// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.lockstarter.backend.LockBackend;
import io.github.lockstarter.redis.RedisLockBackend;

/**
 * Keeps the locks in the Redis of the application.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnProperty(name = "distributed-lock.backend", havingValue = "redis", matchIfMissing = true)
class RedisLockConfiguration {

	@Bean
	@ConditionalOnSingleCandidate(RedisConnectionFactory.class)
	@ConditionalOnMissingBean(LockBackend.class)
	RedisLockBackend redisLockBackend(RedisConnectionFactory connectionFactory, DistributedLockProperties properties) {
		return new RedisLockBackend(connectionFactory, properties.redisSettings());
	}

}
