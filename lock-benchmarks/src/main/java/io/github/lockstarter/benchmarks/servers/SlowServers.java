// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.servers;

import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

import javax.sql.DataSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.github.lockstarter.jdbc.JdbcLockSchema;
import io.github.lockstarter.servers.MariaDbServer;
import io.github.lockstarter.servers.PostgresServer;
import io.github.lockstarter.servers.ServerPort;
import io.github.lockstarter.servers.ServerProcess;
import io.github.lockstarter.servers.ZooKeeperEnsemble;
import io.github.lockstarter.servers.ZooKeeperServer;

/**
 * Servers that run until this JVM ends, because they start slowly. They have processes of
 * their own, so that their CPU time is not counted as that of their clients, and wait for
 * the disk as they do by default.
 */
final class SlowServers {

	/** Servers in Java are compiled, and wait for the disk, as outside of tests. */
	private static final List<String> OPTIONS = List.of("-Xmx512m", "-XX:TieredStopAtLevel=4",
			"-Dzookeeper.forceSync=yes", "-Dznode.container.checkIntervalMs=60000");

	/** Sessions from 2 to 20 seconds are possible. */
	private static final String[] ZOOKEEPER = { "tickTime=1000", "maxSessionTimeout=20000" };

	private static final Map<ServerKind, IntFunction<String>> places = new EnumMap<>(ServerKind.class);

	private static int number;

	private SlowServers() {
	}

	/**
	 * Return the location of a new database, with the tables of all competitors, or of a
	 * new root node.
	 */
	static synchronized String newPlace(ServerKind kind) {
		String location = places.computeIfAbsent(kind, SlowServers::start).apply(++number);
		if (kind.isDatabase()) {
			createTables(new DriverManagerDataSource(location));
		}
		return location;
	}

	private static IntFunction<String> start(ServerKind kind) {
		switch (kind) {
			case POSTGRESQL:
				PostgresServer postgres = PostgresServer.start("fsync=on", "full_page_writes=on");
				return (place) -> postgres.create("benchmark" + place);
			case MARIADB:
				MariaDbServer mariaDb = MariaDbServer.start("innodb-flush-log-at-trx-commit=1");
				return (place) -> mariaDb.create("benchmark" + place);
			case H2:
				int port = startH2();
				return (place) -> h2(port, "benchmark" + place);
			case ZOOKEEPER:
				ZooKeeperServer server = ZooKeeperServer.start(OPTIONS, ZOOKEEPER);
				return (place) -> server.createNode("/benchmark" + place);
			case ZOOKEEPER_ENSEMBLE:
				ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.startWithoutNetworks(OPTIONS, ZOOKEEPER);
				return (place) -> {
					ensemble.members().get(0).createNode("/benchmark" + place);
					return ensemble.connectString() + "/benchmark" + place;
				};
			default:
				throw new IllegalArgumentException(kind + " starts anew for each measurement");
		}
	}

	private static int startH2() {
		int port = ServerPort.find();
		ServerProcess
			.start(ServerProcess.java(OPTIONS, "org.h2.tools.Server", "-tcp", "-tcpPort", String.valueOf(port),
					"-ifNotExists"), Map.of(), ServerProcess.newDirectory("h2"))
			.await(() -> {
				try {
					DriverManager.getConnection(h2(port, "first")).close();
					return true;
				}
				catch (SQLException ex) {
					return false;
				}
			});
		return port;
	}

	private static String h2(int port, String database) {
		return "jdbc:h2:tcp://127.0.0.1:" + port + "/mem:" + database + ";DB_CLOSE_DELAY=-1";
	}

	private static void createTables(DataSource database) {
		try {
			DatabasePopulatorUtils.execute(new ResourceDatabasePopulator(
					new DefaultResourceLoader().getResource(JdbcLockSchema.location(database)),
					new ClassPathResource("peers.sql", SlowServers.class)), database);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
