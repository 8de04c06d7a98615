// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.redis.RedisLockSettings;
import io.github.lockstarter.redis.RedisLockStore;
import io.github.lockstarter.spring.LockStoreBeans;

/**
 * Declares the store {@code redis}, with the connection factory of the application or,
 * without one, with a separate connection. That connection is not a bean, because Spring
 * Boot would use it for caches and more.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ RedisConnectionFactory.class, RedisLockStore.class })
class RedisLockConfiguration {

	private static final String BEAN = LockStoreBeans.KIND + "redis";

	@Bean(BEAN)
	@Lazy
	@Fallback
	@ConditionalOnMissingBean(name = BEAN)
	RedisLockStore distributedLockRedisStore(ListableBeanFactory beanFactory, DistributedLockProperties properties,
			Environment environment, ObjectProvider<SslBundles> sslBundles, ResourceLoader resourceLoader) {
		RedisConnectionFactory application = new BeanChoice<>(beanFactory, RedisConnectionFactory.class,
				"redis.connection-factory")
			.choose(properties.redis().connectionFactory());
		if (application == null
				&& !ClassUtils.isPresent("io.lettuce.core.RedisClient", resourceLoader.getClassLoader())) {
			throw new LockStoreNotFoundException(
					"Distributed locks need Redis, but there is neither a"
							+ " RedisConnectionFactory bean nor Lettuce on the class path",
					"add the dependency org.springframework.boot:spring-boot-starter-data-redis");
		}
		RedisConnectionFactory connections = (application != null) ? application
				: LockRedisConnection.create(LockRedisProperties.from(environment), sslBundles);
		return new RedisLockStore(connections, settings(properties));
	}

	static RedisLockSettings settings(DistributedLockProperties properties) {
		DistributedLockProperties.Redis redis = properties.redis();
		return new RedisLockSettings(properties.keyPrefix(), redis.fenceRetention(), redis.awaitRelease(),
				redis.minReplicaAcks(), redis.replicaAckTimeout());
	}

}
