// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.nemesis;

import java.util.List;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.lockstarter.testsupport.EmbeddedMariaDb;

/**
 * A MariaDB server.
 */
final class MariaDbServer extends DatabaseServer {

	private final int port;

	MariaDbServer() throws Exception {
		this(EmbeddedMariaDb.start(200).port());
	}

	private MariaDbServer(int port) throws Exception {
		super(process(port), address(port));
		this.port = port;
	}

	private static ProcessHandle process(int port) {
		return ProcessHandle.current()
			.children()
			.filter((process) -> process.info().commandLine().orElse("").contains("--port=" + port))
			.findFirst()
			.orElseThrow();
	}

	private static String address(int port) {
		return "jdbc:mariadb://127.0.0.1:" + port + "/test?user=root";
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
		return "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))";
	}

	@Override
	void endSessions() {
		JdbcTemplate jdbc = jdbc();
		List<Long> sessions = jdbc.query("select id from information_schema.processlist where user = 'root'",
				(row, number) -> row.getLong(1));
		for (Long session : sessions) {
			try {
				jdbc.execute("kill connection " + session);
			}
			catch (DataAccessException ex) {
				// It is over
			}
		}
	}

}
