// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.lettuce.core.RedisClient;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.redlock.RedlockSettings;
import io.github.lockstarter.redlock.RedlockStore;
import io.github.lockstarter.spring.LockStoreBeans;

/**
 * Declares the store {@code redlock} if its servers are known.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ RedisConnectionFactory.class, RedisClient.class, RedlockStore.class })
@Conditional(RedlockNodesPresent.class)
class RedlockConfiguration {

	private static final String BEAN = LockStoreBeans.KIND + "redlock";

	@Bean(BEAN)
	@Lazy
	@Fallback
	@ConditionalOnMissingBean(name = BEAN)
	RedlockStore distributedLockRedlockStore(DistributedLockProperties properties, Environment environment,
			ObjectProvider<SslBundles> sslBundles) {
		RedlockProperties redlock = properties.redlock();
		LockRedisProperties redis = LockRedisProperties.from(environment);
		List<LettuceConnectionFactory> nodes = redlock.nodes()
			.stream()
			.map((node) -> connection(node, redis, sslBundles))
			.toList();
		requireDistinct(nodes);
		try {
			return new RedlockStore(nodes, new RedlockSettings(properties.keyPrefix(), redlock.fenceRetention(),
					redlock.nodeTimeout(), redlock.restartDelay()));
		}
		catch (IllegalArgumentException ex) {
			throw invalid(ex.getMessage() + ".");
		}
	}

	/**
	 * Return the connection settings of a server, with which the store opens its own
	 * connections. What an address leaves open is as in the settings of Spring Boot.
	 */
	private static LettuceConnectionFactory connection(String node, LockRedisProperties redis,
			ObjectProvider<SslBundles> sslBundles) {
		String address = node.trim();
		try {
			return LockRedisConnection
				.createLettuce(redis.withUrl(address.contains("://") ? address : "redis://" + address), sslBundles);
		}
		catch (InvalidAddressException ex) {
			throw invalid("Each node must have the form host:port, redis://user:password@host:port, or rediss://… for"
					+ " TLS.");
		}
	}

	private static void requireDistinct(List<LettuceConnectionFactory> nodes) {
		Set<String> addresses = new HashSet<>();
		for (LettuceConnectionFactory node : nodes) {
			String address = node.getHostName().toLowerCase(Locale.ROOT) + ":" + node.getPort();
			if (!addresses.add(address)) {
				throw invalid("The server " + address + " is listed twice.");
			}
		}
	}

	private static InvalidAddressException invalid(String reason) {
		return new InvalidAddressException("distributed-lock.redlock.nodes", reason);
	}

}
