// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.util.List;
import java.util.Set;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Connections like those of a Spring Boot application.
 */
final class SpringConnections implements AutoCloseable {

	private final RedisConnectionFactory factory;

	private final Runnable closing;

	private SpringConnections(RedisConnectionFactory factory, Runnable closing) {
		this.factory = factory;
		this.closing = closing;
	}

	static SpringConnections withLettuce(ServerAddress address) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(configuration(address));
		factory.start();
		return new SpringConnections(factory, factory::destroy);
	}

	static SpringConnections withJedis(ServerAddress address) {
		RedisConfiguration servers = configuration(address);
		JedisConnectionFactory factory = switch (address.kind()) {
			case SENTINEL -> new JedisConnectionFactory((RedisSentinelConfiguration) servers);
			case CLUSTER -> new JedisConnectionFactory((RedisClusterConfiguration) servers);
			default -> new JedisConnectionFactory((RedisStandaloneConfiguration) servers);
		};
		factory.afterPropertiesSet();
		return new SpringConnections(factory, factory::destroy);
	}

	RedisConnectionFactory factory() {
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
		this.closing.run();
	}

}
