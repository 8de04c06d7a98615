// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.time.Duration;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.NamedNode;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * The connections of a store.
 *
 * @param scripts runs scripts
 * @param replicated runs scripts and waits for replicas, which blocks other commands on
 * the connection
 * @param subscriptions opens a connection to subscribe
 * @param closing closed at the end
 */
record LockConnections(ScriptConnection scripts, ScriptConnection replicated,
		Supplier<SubscriptionConnection> subscriptions, Runnable closing) implements AutoCloseable {

	/**
	 * Longest time to wait for an answer. Where the connections are those of the
	 * application, it only stands in for a time-out that the application has not set.
	 */
	static final Duration LONGEST_ANSWER = Duration.ofSeconds(2);

	private static final boolean LETTUCE = ClassUtils.isPresent("io.lettuce.core.RedisClient",
			LockConnections.class.getClassLoader());

	private static final boolean JEDIS = ClassUtils.isPresent("redis.clients.jedis.Jedis",
			LockConnections.class.getClassLoader());

	/**
	 * Return separate connections if the application uses Lettuce, otherwise those of the
	 * application.
	 */
	static LockConnections derivedFrom(RedisConnectionFactory application) {
		LockConnections own = LETTUCE ? LettuceLockConnections.derivedFrom(application) : null;
		if (own == null && JEDIS) {
			own = JedisSubscriptionConnections.derivedFrom(application);
		}
		return (own != null) ? own : ofApplication(application, true, subscriptionsOf(application), () -> {
		});
	}

	/**
	 * Return the connections of the application, with separate ones to subscribe.
	 * @param repeating whether they may repeat scripts although there is no cluster
	 */
	static LockConnections ofApplication(RedisConnectionFactory application, boolean repeating,
			Supplier<SubscriptionConnection> subscriptions, Runnable closing) {
		ScriptConnection scripts = new SpringScriptConnection(application, repeating);
		return new LockConnections(scripts, scripts, subscriptions, closing);
	}

	/**
	 * Return the servers of a connection factory, or {@code null} if they are not known.
	 * No factory has getters for all kinds of them.
	 */
	static @Nullable RedisConfiguration serversOf(RedisConnectionFactory connections) {
		DirectFieldAccessor fields = new DirectFieldAccessor(connections);
		return Stream.of("configuration", "standaloneConfig")
			.filter(fields::isReadableProperty)
			.map(fields::getPropertyValue)
			.filter(RedisConfiguration.class::isInstance)
			.map(RedisConfiguration.class::cast)
			.findFirst()
			.orElse(null);
	}

	/**
	 * Return the address of the servers of a connection factory, for messages; empty if
	 * it is not known.
	 */
	static String addressOf(RedisConnectionFactory connections) {
		RedisConfiguration servers = serversOf(connections);
		String address = "";
		if (servers instanceof RedisConfiguration.ClusterConfiguration cluster) {
			return "the cluster of " + cluster.getClusterNodes();
		}
		if (servers instanceof RedisConfiguration.SentinelConfiguration sentinel) {
			NamedNode master = sentinel.getMaster();
			address = "'" + ((master != null) ? master.getName() : "") + "' of the sentinels "
					+ sentinel.getSentinels();
		}
		else if (servers instanceof RedisConfiguration.DomainSocketConfiguration socket) {
			address = socket.getSocket();
		}
		else if (servers instanceof RedisConfiguration.StaticMasterReplicaConfiguration replicated) {
			address = replicated.getNodes()
				.stream()
				.map((node) -> node.getHostName() + ':' + node.getPort())
				.collect(Collectors.joining(", "));
		}
		else if (servers instanceof RedisConfiguration.WithHostAndPort server) {
			address = server.getHostName() + ':' + server.getPort();
		}
		return address.isEmpty() ? ""
				: address + ", database " + RedisConfiguration.getDatabaseOrElse(servers, () -> 0);
	}

	/**
	 * Return a supplier of connections to subscribe, with any driver.
	 */
	static Supplier<SubscriptionConnection> subscriptionsOf(RedisConnectionFactory connections) {
		return () -> new SpringSubscriptionConnection(connections.getConnection());
	}

	@Override
	public void close() {
		this.scripts.close();
		this.replicated.close();
		this.closing.run();
	}

}
