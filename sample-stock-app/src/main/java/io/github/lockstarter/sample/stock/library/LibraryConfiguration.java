// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.library;

import java.time.Duration;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Profile;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * The locks of other libraries, in the Redis of the shop. Both renew their leases.
 */
@Configuration(proxyBeanMethods = false)
@Profile("libraries")
class LibraryConfiguration {

	@Bean(destroyMethod = "shutdown")
	RedissonClient redissonClient(LettuceConnectionFactory connections,
			@Value("${distributed-lock.lease-time}") Duration leaseTime) {
		Config config = new Config().setLockWatchdogTimeout(leaseTime.toMillis());
		config.useSingleServer().setAddress("redis://" + connections.getHostName() + ":" + connections.getPort());
		return Redisson.create(config);
	}

	@Bean
	RedisLockRegistry springIntegrationLockRegistry(RedisConnectionFactory connections,
			@Value("${distributed-lock.lease-time}") Duration leaseTime) {
		RedisLockRegistry registry = new RedisLockRegistry(connections, "spring-integration", leaseTime.toMillis());
		registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
		registry.setRenewalTaskScheduler(scheduler());
		return registry;
	}

	private static ThreadPoolTaskScheduler scheduler() {
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setDaemon(true);
		scheduler.initialize();
		return scheduler;
	}

}
