// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.servers;

import java.util.List;
import java.util.stream.Collectors;

import io.github.lockstarter.servers.RedisServer;

/**
 * The kinds of servers on which locks are compared. Each measurement has a fresh Redis
 * server, or a fresh database or a fresh root node in a server that all measurements
 * share, because such a server starts slowly.
 */
public enum ServerKind {

	/** One Redis server. */
	REDIS("redis", "Redis") {

		@Override
		public BenchmarkServer start() {
			RedisServer redis = RedisServer.start();
			return new BenchmarkServer(address(redis.port()), redis, List.of(redis), redis::close);
		}

	},

	/** Three Redis servers that do not know each other. */
	REDLOCK("redlock", "three Redis servers") {

		@Override
		public BenchmarkServer start() {
			List<RedisServer> servers = List.of(RedisServer.start(), RedisServer.start(), RedisServer.start());
			String ports = servers.stream()
				.map((server) -> String.valueOf(server.port()))
				.collect(Collectors.joining(","));
			return withCounters(ports, servers, () -> servers.forEach(RedisServer::close));
		}

	},

	/** A PostgreSQL server. */
	POSTGRESQL("postgresql", "PostgreSQL") {

		@Override
		public BenchmarkServer start() {
			return withCounters(SlowServers.newPlace(this));
		}

	},

	/** A MariaDB server. */
	MARIADB("mariadb", "MariaDB") {

		@Override
		public BenchmarkServer start() {
			return withCounters(SlowServers.newPlace(this));
		}

	},

	/** An H2 server with databases in memory. */
	H2("h2", "H2") {

		@Override
		public BenchmarkServer start() {
			return withCounters(SlowServers.newPlace(this));
		}

	},

	/** One ZooKeeper server. */
	ZOOKEEPER("zookeeper", "ZooKeeper") {

		@Override
		public BenchmarkServer start() {
			return withCounters(SlowServers.newPlace(this));
		}

	},

	/** An ensemble of three ZooKeeper servers. */
	ZOOKEEPER_ENSEMBLE("zookeeper-3", "three ZooKeeper servers") {

		@Override
		public BenchmarkServer start() {
			return withCounters(SlowServers.newPlace(this));
		}

	};

	private final String label;

	private final String title;

	ServerKind(String label, String title) {
		this.label = label;
		this.title = title;
	}

	/**
	 * Return the name in options and file names.
	 */
	public String label() {
		return this.label;
	}

	/**
	 * Return the name in titles.
	 */
	public String title() {
		return this.title;
	}

	/**
	 * Return whether locks are in a relational database.
	 */
	public boolean isDatabase() {
		return this == POSTGRESQL || this == MARIADB || this == H2;
	}

	/**
	 * Return whether locks are in ZooKeeper.
	 */
	public boolean isZooKeeper() {
		return this == ZOOKEEPER || this == ZOOKEEPER_ENSEMBLE;
	}

	/**
	 * Return a server without any locks.
	 */
	public abstract BenchmarkServer start();

	ServerAddress address(Object location) {
		return new ServerAddress(this, String.valueOf(location));
	}

	BenchmarkServer withCounters(String location) {
		return withCounters(location, List.of(), () -> {
		});
	}

	BenchmarkServer withCounters(String location, List<RedisServer> counted, Runnable close) {
		RedisServer counters = RedisServer.start();
		return new BenchmarkServer(address(location), counters, counted, () -> {
			counters.close();
			close.run();
		});
	}

}
