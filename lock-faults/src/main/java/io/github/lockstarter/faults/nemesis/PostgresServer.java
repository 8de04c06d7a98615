// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.util.FileSystemUtils;

import io.github.lockstarter.testsupport.ServerPort;

/**
 * A PostgreSQL server.
 */
final class PostgresServer extends DatabaseServer {

	private final Path directory;

	private final int port;

	PostgresServer() throws Exception {
		this(Files.createTempDirectory("postgres"));
	}

	private PostgresServer(Path directory) throws Exception {
		this(directory,
				EmbeddedPostgres.builder()
					.setPort(ServerPort.find())
					.setDataDirectory(directory)
					.setRegisterShutdownHook(false)
					.setServerConfig("max_connections", "200")
					.setPGStartupWait(Duration.ofMinutes(3))
					.start()
					.getPort());
	}

	private PostgresServer(Path directory, int port) throws Exception {
		super(process(port), address(port));
		this.directory = directory;
		this.port = port;
	}

	private static ProcessHandle process(int port) throws SQLException {
		try (Connection connection = DriverManager.getConnection(address(port))) {
			return ProcessHandle.of(session(connection)).flatMap(ProcessHandle::parent).orElseThrow();
		}
	}

	/**
	 * Return the process of a session.
	 */
	private static long session(Connection connection) throws SQLException {
		try (Statement statement = connection.createStatement();
				ResultSet row = statement.executeQuery("select pg_backend_pid()")) {
			row.next();
			return row.getLong(1);
		}
	}

	private static String address(int port) {
		return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres";
	}

	@Override
	int port() {
		return this.port;
	}

	@Override
	String url(int port) {
		return address(port);
	}

	@Override
	String micros() {
		return "extract(epoch from clock_timestamp()) * 1000000";
	}

	@Override
	void endSessions() {
		jdbc().queryForList("select pg_terminate_backend(pid) from pg_stat_activity"
				+ " where pid <> pg_backend_pid() and backend_type = 'client backend'");
	}

	/**
	 * Let nobody wait until a commit is on the disk, do some work, and let the server
	 * lose the last commits. It crashes if one of its processes was killed, because that
	 * may have destroyed the memory they share.
	 */
	void loseCommits(Work work) throws Exception {
		set("synchronous_commit", "off");
		set("wal_writer_delay", "10s");
		work.run();
		try (Connection witness = open()) {
			try (Connection victim = open()) {
				ServerProcess.kill(session(victim));
			}
			ServerProcess.await("The crashed database", () -> isClosed(witness));
		}
		await();
		set("synchronous_commit", "on");
		set("wal_writer_delay", "200ms");
	}

	private void set(String parameter, String value) {
		jdbc().execute("alter system set " + parameter + " = '" + value + "'");
		jdbc().execute("select pg_reload_conf()");
	}

	private static boolean isClosed(Connection connection) {
		try {
			return !connection.isValid(1);
		}
		catch (SQLException ex) {
			return true;
		}
	}

	@Override
	public void close() throws IOException {
		super.close();
		FileSystemUtils.deleteRecursively(this.directory);
	}

}
