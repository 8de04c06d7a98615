// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.awaitility.Awaitility;

import io.github.lockstarter.testsupport.ServerPort;

/**
 * A PostgreSQL server that one test may harm. Its transactions do not wait for the disk
 * unless they ask for that, and nothing else writes them to the disk for seconds.
 */
final class OwnPostgres implements AutoCloseable {

	private final EmbeddedPostgres server;

	private final ProcessHandle process;

	OwnPostgres() throws IOException, SQLException {
		this.server = EmbeddedPostgres.builder()
			.setPort(ServerPort.find())
			.setServerConfig("synchronous_commit", "off")
			.setServerConfig("wal_writer_delay", "10s")
			.setPGStartupWait(Duration.ofMinutes(3))
			.start();
		TestDatabase.createTable(url());
		try (Connection connection = open()) {
			this.process = ProcessHandle.of(backend(connection)).flatMap(ProcessHandle::parent).orElseThrow();
		}
	}

	String url() {
		return "jdbc:postgresql://localhost:" + this.server.getPort() + "/postgres?user=postgres";
	}

	Connection open() throws SQLException {
		return DriverManager.getConnection(url());
	}

	/**
	 * Let the server lose everything that it has not written. It does so itself if one of
	 * its processes was killed, because that may have destroyed the memory they share.
	 */
	void crash() throws Exception {
		try (Connection witness = open()) {
			try (Connection victim = open()) {
				signal("-KILL", List.of(backend(victim)));
			}
			Awaitility.await().until(() -> !witness.isValid(1));
		}
		Awaitility.await().ignoreExceptions().until(() -> {
			try (Connection connection = open()) {
				return connection.isValid(1);
			}
		});
	}

	/**
	 * Let no process of the server do anything.
	 */
	void pause() throws Exception {
		signal("-STOP", processes());
	}

	void proceed() throws Exception {
		signal("-CONT", processes());
	}

	private List<Long> processes() {
		return Stream.concat(Stream.of(this.process), this.process.children()).map(ProcessHandle::pid).toList();
	}

	private static void signal(String signal, List<Long> processes) throws Exception {
		for (Long process : processes) {
			new ProcessBuilder("kill", signal, process.toString()).start().waitFor();
		}
	}

	private static long backend(Connection connection) throws SQLException {
		return new SqlSession(connection, 1).first("select pg_backend_pid()", (row) -> row.getLong(1));
	}

	@Override
	public void close() throws IOException {
		this.server.close();
	}

}
