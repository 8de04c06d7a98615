// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.OnPropertyListCondition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import io.github.lockstarter.LockRegistry;
import io.github.lockstarter.redlock.RedlockSettings;
import io.github.lockstarter.redlock.RedlockStore;
import io.github.lockstarter.spring.LockRegistryFactory;

/**
 * Declares the store {@code redlock} if its servers are known.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ RedisConnectionFactory.class, RedisClient.class, RedlockStore.class })
@Conditional(RedlockConfiguration.NodesPresent.class)
class RedlockConfiguration {

	static final String REGISTRY = "redlockLockRegistry";

	static final String STORE = "distributedLockRedlockStore";

	@Bean(name = REGISTRY, defaultCandidate = false)
	@Lazy
	@ConditionalOnMissingBean(name = REGISTRY)
	LockRegistry redlockLockRegistry(LockRegistryFactory registries, @Qualifier(STORE) RedlockStore store) {
		return registries.create("redlock", store);
	}

	@Bean(name = STORE, defaultCandidate = false)
	@Lazy
	RedlockStore distributedLockRedlockStore(DistributedLockProperties properties) {
		RedlockProperties redlock = properties.redlock();
		List<LettuceConnectionFactory> nodes = redlock.nodes().stream().map(RedlockConfiguration::connections).toList();
		requireDistinct(nodes);
		try {
			return new RedlockStore(nodes, new RedlockSettings(properties.keyPrefix(), redlock.fenceRetention(),
					redlock.nodeTimeout(), redlock.restartDelay()));
		}
		catch (IllegalArgumentException ex) {
			throw invalid(String.valueOf(ex.getMessage()));
		}
	}

	/**
	 * Return the settings of the connections to a server, which the store opens itself.
	 */
	private static LettuceConnectionFactory connections(String node) {
		String address = node.trim();
		try {
			RedisURI uri = RedisURI.create(address.contains("://") ? address : "redis://" + address);
			if (LettuceConnectionFactory.createRedisConfiguration(uri) instanceof RedisStandaloneConfiguration server) {
				return new LettuceConnectionFactory(server, LettuceClientConfiguration.builder().apply(uri).build());
			}
		}
		catch (IllegalArgumentException ex) {
			// Its message may contain the password
		}
		throw invalid("each node must have the form host:port, redis://user:password@host:port, or rediss://… for TLS");
	}

	private static void requireDistinct(List<LettuceConnectionFactory> nodes) {
		Set<String> addresses = new HashSet<>();
		for (LettuceConnectionFactory node : nodes) {
			String address = node.getHostName().toLowerCase(Locale.ROOT) + ":" + node.getPort();
			if (!addresses.add(address)) {
				throw invalid("the server " + address + " is listed twice");
			}
		}
	}

	/** The report of an invalid property would show its value, and so the passwords. */
	private static LockStoreNotFoundException invalid(String problem) {
		return new LockStoreNotFoundException("The property distributed-lock.redlock.nodes is invalid: " + problem,
				"set distributed-lock.redlock.nodes to the addresses of at least three servers");
	}

	static class NodesPresent extends OnPropertyListCondition {

		NodesPresent() {
			super("distributed-lock.redlock.nodes", () -> ConditionMessage.forCondition("Redlock"));
		}

	}

}
