// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.redis.RedisLockSettings;
import io.github.lockstarter.redis.RedisLockStore;
import io.github.lockstarter.spring.LockRegistryFactory;

/**
 * Declares the store {@code redis}, with the connection factory of the application.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ RedisConnectionFactory.class, RedisLockStore.class })
class RedisLockConfiguration {

	static final String REGISTRY = "redisLockRegistry";

	static final String STORE = "distributedLockRedisStore";

	/** The configuration by which Spring Boot declares a connection factory. */
	private static final String AUTO_CONFIGURATION = "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration";

	@Bean(name = REGISTRY, defaultCandidate = false)
	@Lazy
	@ConditionalOnMissingBean(name = REGISTRY)
	LockRegistry redisLockRegistry(LockRegistryFactory registries, @Qualifier(STORE) RedisLockStore store) {
		return registries.create("redis", store);
	}

	@Bean(name = STORE, defaultCandidate = false)
	@Lazy
	RedisLockStore distributedLockRedisStore(DistributedLockProperties properties, BeanFactory beanFactory,
			@DistributedLockRedisConnectionFactory ObjectProvider<RedisConnectionFactory> qualified,
			ObjectProvider<RedisConnectionFactory> all) {
		RedisConnectionFactory connections = BeanChoice.choose(qualified, all,
				DistributedLockRedisConnectionFactory.class);
		if (connections == null) {
			throw new LockStoreNotFoundException(
					"Distributed locks in Redis need a RedisConnectionFactory bean, but there is none",
					beanFactory.containsBean(AUTO_CONFIGURATION)
							? "add the driver that spring.data.redis.client-type names: redis.clients:jedis for jedis,"
									+ " io.lettuce:lettuce-core for lettuce"
							: "add the dependency org.springframework.boot:spring-boot-starter-data-redis, and do not"
									+ " exclude its DataRedisAutoConfiguration");
		}
		return new RedisLockStore(connections, settings(properties));
	}

	static RedisLockSettings settings(DistributedLockProperties properties) {
		DistributedLockProperties.Redis redis = properties.redis();
		return new RedisLockSettings(properties.keyPrefix(), redis.fenceRetention(), redis.awaitRelease(),
				redis.minReplicaAcks(), redis.replicaAckTimeout());
	}

}
