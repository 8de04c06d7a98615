// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.net.URI;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;

/**
 * The servers and credentials in the settings of Spring Boot for Redis.
 */
final class LockRedisServers {

	private static final int DEFAULT_PORT = 6379;

	private final LockRedisProperties properties;

	private final @Nullable URI url;

	LockRedisServers(LockRedisProperties properties) {
		this.properties = properties;
		this.url = (properties.url() != null) ? parse(properties.url()) : null;
	}

	private static URI parse(String url) {
		try {
			URI uri = URI.create(url);
			if (("redis".equals(uri.getScheme()) || "rediss".equals(uri.getScheme())) && uri.getHost() != null) {
				return uri;
			}
		}
		catch (IllegalArgumentException ex) {
			// Its message contains the password
		}
		throw invalid("url", "It must have the form redis://user:password@host:port/database, or rediss://… for TLS.");
	}

	private static InvalidAddressException invalid(String name, String reason) {
		return new InvalidAddressException("spring.data.redis." + name, reason);
	}

	/**
	 * Return whether the URL asks for TLS.
	 */
	boolean isEncrypted() {
		return this.url != null && "rediss".equals(this.url.getScheme());
	}

	RedisConfiguration configuration() {
		RedisConfiguration servers = servers();
		if (servers instanceof RedisConfiguration.WithAuthentication login) {
			logIn(login);
		}
		return servers;
	}

	private RedisConfiguration servers() {
		LockRedisProperties.Sentinel sentinel = this.properties.sentinel();
		LockRedisProperties.Cluster cluster = this.properties.cluster();
		LockRedisProperties.Masterreplica replicas = this.properties.masterreplica();
		if (sentinel != null) {
			return sentinel(sentinel);
		}
		if (cluster != null) {
			return cluster(cluster);
		}
		return (replicas != null) ? replicas(nodes("masterreplica", replicas.nodes())) : standalone();
	}

	private RedisConfiguration sentinel(LockRedisProperties.Sentinel sentinel) {
		RedisSentinelConfiguration servers = new RedisSentinelConfiguration();
		servers.master(sentinel.master());
		servers.setSentinels(nodes("sentinel", sentinel.nodes()));
		servers.setSentinelUsername(sentinel.username());
		servers.setSentinelPassword(sentinel.password());
		servers.setDatabase(database());
		return servers;
	}

	private static RedisConfiguration cluster(LockRedisProperties.Cluster cluster) {
		RedisClusterConfiguration servers = new RedisClusterConfiguration();
		servers.setClusterNodes(nodes("cluster", cluster.nodes()));
		if (cluster.maxRedirects() != null) {
			servers.setMaxRedirects(cluster.maxRedirects());
		}
		return servers;
	}

	private static RedisConfiguration replicas(List<RedisNode> nodes) {
		RedisStaticMasterReplicaConfiguration servers = new RedisStaticMasterReplicaConfiguration(
				nodes.get(0).getRequiredHost(), nodes.get(0).getRequiredPort());
		nodes.stream().skip(1).forEach((node) -> servers.addNode(node.getRequiredHost(), node.getRequiredPort()));
		return servers;
	}

	private RedisConfiguration standalone() {
		String host = (this.url != null) ? this.url.getHost() : this.properties.host();
		int port = (this.url != null) ? this.url.getPort() : this.properties.port();
		RedisStandaloneConfiguration servers = new RedisStandaloneConfiguration(host,
				(port >= 0) ? port : DEFAULT_PORT);
		servers.setDatabase(database());
		return servers;
	}

	private static List<RedisNode> nodes(String mode, List<String> addresses) {
		if (addresses.isEmpty()) {
			throw invalid(mode + ".nodes", "At least one host:port is required.");
		}
		try {
			return addresses.stream().map((address) -> RedisNode.fromString(address.trim())).toList();
		}
		catch (IllegalArgumentException ex) {
			throw invalid(mode + ".nodes", "Each node must have the form host:port.");
		}
	}

	private int database() {
		if (this.url == null) {
			return this.properties.database();
		}
		String path = this.url.getPath();
		try {
			return (path.length() > 1) ? Integer.parseInt(path.substring(1)) : 0;
		}
		catch (NumberFormatException ex) {
			throw invalid("url", "Its path must be the number of a database.");
		}
	}

	private void logIn(RedisConfiguration.WithAuthentication servers) {
		if (this.url == null) {
			servers.setUsername(this.properties.username());
			servers.setPassword(this.properties.password());
			return;
		}
		String user = this.url.getUserInfo();
		if (user != null) {
			int colon = user.indexOf(':');
			servers.setUsername((colon >= 0) ? user.substring(0, colon) : null);
			servers.setPassword(user.substring(colon + 1));
		}
	}

}
