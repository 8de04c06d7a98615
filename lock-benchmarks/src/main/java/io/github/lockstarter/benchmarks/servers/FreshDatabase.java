// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.servers;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.core.io.ClassPathResource;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.github.lockstarter.jdbc.JdbcLockSchema;
import io.github.lockstarter.testsupport.EmbeddedMariaDb;
import io.github.lockstarter.testsupport.ServerPort;

/**
 * A new database with the tables of all competitors. The servers run until the JVM ends,
 * with the durability that they have by default.
 */
final class FreshDatabase {

	/** For four JVMs with 32 connections each, and our own. */
	private static final int CONNECTIONS = 200;

	/** The URLs of servers, in which {@code %s} is the name of a database. */
	private static final Map<ServerKind, String> servers = new EnumMap<>(ServerKind.class);

	private static final AtomicInteger number = new AtomicInteger();

	private FreshDatabase() {
	}

	/**
	 * Create a database.
	 * @return its JDBC URL
	 */
	static synchronized String create(ServerKind kind) throws IOException {
		try {
			if (!servers.containsKey(kind)) {
				servers.put(kind, start(kind));
			}
			String name = "benchmark" + number.incrementAndGet();
			if (kind != ServerKind.H2) {
				new JdbcTemplate(new DriverManagerDataSource(servers.get(kind).formatted(initial(kind))))
					.execute("create database " + name);
			}
			String url = servers.get(kind).formatted(name);
			createTables(new DriverManagerDataSource(url));
			return url;
		}
		catch (SQLException ex) {
			throw new IOException(ex);
		}
	}

	private static String start(ServerKind kind) throws IOException {
		return switch (kind) {
			case POSTGRESQL -> "jdbc:postgresql://127.0.0.1:" + startPostgres() + "/%s?user=postgres";
			case MARIADB -> "jdbc:mariadb://127.0.0.1:" + startMariaDb() + "/%s?user=root";
			case H2 -> "jdbc:h2:tcp://127.0.0.1:" + ServerWorker.start(kind) + "/mem:%s;DB_CLOSE_DELAY=-1";
			default -> throw new IllegalArgumentException(kind + " is no database");
		};
	}

	private static String initial(ServerKind kind) {
		return (kind == ServerKind.POSTGRESQL) ? "postgres" : "test";
	}

	private static int startPostgres() throws IOException {
		return EmbeddedPostgres.builder()
			.setPort(ServerPort.find())
			.setServerConfig("max_connections", String.valueOf(CONNECTIONS))
			// The library switches these off to save time in tests
			.setServerConfig("fsync", "on")
			.setServerConfig("synchronous_commit", "on")
			.setPGStartupWait(Duration.ofMinutes(3))
			.start()
			.getPort();
	}

	private static int startMariaDb() throws IOException {
		try {
			return EmbeddedMariaDb.start(CONNECTIONS).port();
		}
		catch (Exception ex) {
			throw new IOException(ex);
		}
	}

	private static void createTables(DataSource database) throws SQLException {
		DatabasePopulatorUtils.execute(new ResourceDatabasePopulator(
				new DefaultResourceLoader().getResource(JdbcLockSchema.location(database)),
				new ClassPathResource("peers.sql", FreshDatabase.class)), database);
	}

}
