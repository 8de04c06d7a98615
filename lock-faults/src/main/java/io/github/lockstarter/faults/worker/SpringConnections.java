// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.util.Set;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Connections like those of a Spring Boot application.
 */
final class SpringConnections implements AutoCloseable {

	private final LettuceConnectionFactory factory;

	SpringConnections(RedisAddress address) {
		this.factory = new LettuceConnectionFactory(configuration(address));
		this.factory.start();
	}

	LettuceConnectionFactory factory() {
		return this.factory;
	}

	private static RedisConfiguration configuration(RedisAddress address) {
		return switch (address.kind()) {
			case SINGLE -> {
				RedisNode node = RedisNode.fromString(address.nodes().get(0));
				yield new RedisStandaloneConfiguration(node.getRequiredHost(), node.getRequiredPort());
			}
			case SENTINEL -> new RedisSentinelConfiguration(RedisAddress.PRIMARY, Set.copyOf(address.nodes()));
			case CLUSTER -> new RedisClusterConfiguration(address.nodes());
		};
	}

	@Override
	public void close() {
		this.factory.destroy();
	}

}
