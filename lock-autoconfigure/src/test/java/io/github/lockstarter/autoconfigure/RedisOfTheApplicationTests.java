// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.cache.autoconfigure.CacheAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.SharedServers.RedisDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application that uses Redis itself keeps all its beans.
 */
class RedisOfTheApplicationTests {

	@Test
	void cachesTemplatesAndLocksAreInTheSameRedis() {
		RedisDatabase redis = SharedServers.redis();
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class, CacheAutoConfiguration.class,
					DistributedLockAutoConfiguration.class))
			.withUserConfiguration(Caching.class)
			.withPropertyValues("spring.data.redis.url=" + redis.url(), "distributed-lock.wait-time=1m",
					"distributed-lock.waiting.outage-time=1m")
			.run((context) -> {
				assertThat(context).hasSingleBean(RedisConnectionFactory.class);
				assertThat(context.getBean(CacheManager.class)).isInstanceOf(RedisCacheManager.class);
				context.getBean(StringRedisTemplate.class).opsForValue().set("greeting", "hello");
				assertThat(redis.command("GET", "greeting")).isEqualTo("hello");
				try (Lease lease = context.getBean(LockRegistry.class).acquire(LockRequest.of("stock", 1001))) {
					assertThat(redis.command("EXISTS", "lock:{stock:1001}")).isEqualTo("1");
				}
			});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableCaching
	static class Caching {

	}

}
