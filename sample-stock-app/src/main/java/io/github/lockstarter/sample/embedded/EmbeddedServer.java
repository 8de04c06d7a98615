// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.springframework.core.env.Environment;
import org.springframework.core.env.Profiles;

import io.github.lockstarter.servers.MariaDbServer;
import io.github.lockstarter.servers.PostgresServer;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.servers.ZooKeeperServer;

/**
 * The servers that the shop starts, each for the profile of its name, and Redis by
 * default.
 */
enum EmbeddedServer implements Supplier<String> {

	REDIS(() -> "spring.data.redis.url=redis://" + RedisServer.start().address(), "spring.data.redis.url",
			"spring.data.redis.host", "spring.data.redis.port", "spring.data.redis.sentinel",
			"spring.data.redis.cluster", "spring.data.redis.masterreplica") {

		@Override
		boolean isWanted(Environment environment) {
			return environment.getProperty("distributed-lock.store", "redis").equals("redis");
		}

	},

	POSTGRESQL(() -> "spring.datasource.url=" + PostgresServer.start().url(), "spring.datasource.url",
			"spring.datasource.jndi-name"),

	MARIADB(() -> "spring.datasource.url=" + MariaDbServer.start().url(), "spring.datasource.url",
			"spring.datasource.jndi-name"),

	ZOOKEEPER(() -> "distributed-lock.zookeeper.connect-string=" + ZooKeeperServer.start().address(),
			"distributed-lock.zookeeper.connect-string"),

	REDLOCK(() -> "distributed-lock.redlock.nodes="
			+ Stream.generate(RedisServer::start).limit(3).map(RedisServer::address).collect(Collectors.joining(",")),
			"distributed-lock.redlock.nodes");

	private final Supplier<String> start;

	private final String[] properties;

	/**
	 * Create a server.
	 * @param start starts it, and returns a property with its address
	 * @param properties the properties that name another one, which is used instead
	 */
	EmbeddedServer(Supplier<String> start, String... properties) {
		this.start = start;
		this.properties = properties;
	}

	boolean isWanted(Environment environment) {
		return environment.acceptsProfiles(Profiles.of(name().toLowerCase(Locale.ROOT)));
	}

	String[] properties() {
		return this.properties;
	}

	/**
	 * Start the server.
	 * @return a property with its address
	 */
	@Override
	public String get() {
		return this.start.get();
	}

}
