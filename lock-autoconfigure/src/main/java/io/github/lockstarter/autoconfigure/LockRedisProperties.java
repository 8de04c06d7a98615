// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.env.Environment;

/**
 * The settings of Spring Boot for Redis that a connection of the locks needs. They mean
 * the same as in an application that uses Redis itself.
 *
 * @param url URL of the Redis server; overrides host, port, username, password and
 * database.
 * @param host Host of the Redis server.
 * @param port Port of the Redis server.
 * @param database Database index.
 * @param username Login username of the Redis server.
 * @param password Login password of the Redis server.
 * @param timeout Maximum time to wait for the reply to a command.
 * @param connectTimeout Maximum time to wait for a connection.
 * @param clientName Name of the connections, as CLIENT LIST shows it.
 * @param clientType Driver to use.
 * @param ssl Settings of TLS.
 * @param sentinel Settings of Redis Sentinel.
 * @param cluster Settings of Redis Cluster.
 * @param masterreplica Settings of a primary with replicas.
 * @param lettuce Settings of the driver.
 */
record LockRedisProperties(@Nullable String url, @DefaultValue("localhost") String host, @DefaultValue("6379") int port,
		@DefaultValue("0") int database, @Nullable String username, @Nullable String password,
		@Nullable Duration timeout, @Nullable Duration connectTimeout, @Nullable String clientName,
		@Nullable ClientType clientType, @DefaultValue Ssl ssl, @Nullable Sentinel sentinel, @Nullable Cluster cluster,
		@Nullable Masterreplica masterreplica, @DefaultValue Lettuce lettuce) {

	/**
	 * Return the settings of an application. They are not a bean and have no metadata of
	 * their own, because they belong to Spring Boot.
	 */
	static LockRedisProperties from(Environment environment) {
		return Binder.get(environment).bindOrCreate("spring.data.redis", LockRedisProperties.class);
	}

	/**
	 * Return the same settings for a single server.
	 * @param url the URL of the server, which overrides the login
	 */
	LockRedisProperties withUrl(String url) {
		return new LockRedisProperties(url, this.host, this.port, 0, this.username, this.password, this.timeout,
				this.connectTimeout, this.clientName, this.clientType, this.ssl, null, null, null, this.lettuce);
	}

	/** Drivers for Redis. */
	enum ClientType {

		LETTUCE, JEDIS

	}

	/**
	 * Settings of TLS.
	 *
	 * @param enabled Whether to use TLS. Enabled by default if a bundle is set.
	 * @param bundle Name of an SSL bundle.
	 */
	record Ssl(@Nullable Boolean enabled, @Nullable String bundle) {

		boolean isUsed() {
			return (this.enabled != null) ? this.enabled : this.bundle != null;
		}

	}

	/**
	 * Settings of Redis Sentinel.
	 *
	 * @param master Name of the primary.
	 * @param nodes Sentinels, each as host:port.
	 * @param username Login username of the sentinels.
	 * @param password Login password of the sentinels.
	 */
	record Sentinel(String master, @DefaultValue List<String> nodes, @Nullable String username,
			@Nullable String password) {
	}

	/**
	 * Settings of Redis Cluster.
	 *
	 * @param nodes Some nodes of the cluster, each as host:port.
	 * @param maxRedirects Maximum number of redirects to follow.
	 */
	record Cluster(@DefaultValue List<String> nodes, @Nullable Integer maxRedirects) {
	}

	/**
	 * Settings of a primary with replicas.
	 *
	 * @param nodes Primary and replicas, each as host:port.
	 */
	record Masterreplica(@DefaultValue List<String> nodes) {
	}

	/**
	 * Settings of the driver.
	 *
	 * @param cluster Settings of the driver for Redis Cluster.
	 */
	record Lettuce(@DefaultValue LettuceCluster cluster) {
	}

	/**
	 * Settings of the driver for Redis Cluster.
	 *
	 * @param refresh Settings of topology refreshes.
	 */
	record LettuceCluster(@DefaultValue Refresh refresh) {
	}

	/**
	 * Settings of topology refreshes.
	 *
	 * @param dynamicRefreshSources Whether to query all discovered nodes.
	 * @param period Refresh period. Without it, the topology is refreshed only after a
	 * failure.
	 */
	record Refresh(@DefaultValue("true") boolean dynamicRefreshSources, @Nullable Duration period) {
	}

}
