// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.util.List;
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

	SpringConnections(ServerAddress address) {
		this.factory = new LettuceConnectionFactory(configuration(address));
		this.factory.start();
	}

	LettuceConnectionFactory factory() {
		return this.factory;
	}

	/**
	 * Return the configuration of connections to each of several independent servers.
	 */
	static List<LettuceConnectionFactory> toEach(ServerAddress address) {
		return address.nodes()
			.stream()
			.map((node) -> new LettuceConnectionFactory(
					configuration(new ServerAddress(ServerAddress.Kind.SINGLE, List.of(node)))))
			.toList();
	}

	private static RedisConfiguration configuration(ServerAddress address) {
		return switch (address.kind()) {
			case SINGLE -> {
				RedisNode node = RedisNode.fromString(address.nodes().get(0));
				yield new RedisStandaloneConfiguration(node.getRequiredHost(), node.getRequiredPort());
			}
			case SENTINEL -> new RedisSentinelConfiguration(ServerAddress.PRIMARY, Set.copyOf(address.nodes()));
			case CLUSTER -> new RedisClusterConfiguration(address.nodes());
			default -> throw new IllegalArgumentException(address + " is not one deployment");
		};
	}

	@Override
	public void close() {
		this.factory.destroy();
	}

}
