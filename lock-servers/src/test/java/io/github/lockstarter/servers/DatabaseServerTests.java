// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.servers;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Databases of one's own.
 */
@Tag("full")
class DatabaseServerTests {

	@Test
	void postgresKeepsItsDataUnlessItHasNotWrittenThem() throws SQLException {
		try (PostgresServer server = PostgresServer.start("max_connections=20", "wal_writer_delay=10s")) {
			keepsItsDataWhenItIsKilled(server);
			assertThat(number(server.url(), "show max_connections")).isEqualTo(20);
			server.execute("set synchronous_commit = off; insert into t values (2)");
			assertThat(number(server.url(), "select count(*) from t")).isEqualTo(2);
			server.crash();
			assertThat(number(server.url(), "select count(*) from t")).isEqualTo(1);
		}
	}

	@Test
	void mariaDbKeepsItsDataWhenItIsKilled() throws SQLException {
		try (MariaDbServer server = MariaDbServer.start("max-connections=20")) {
			keepsItsDataWhenItIsKilled(server);
			assertThat(number(server.url(), "select @@max_connections")).isEqualTo(20);
		}
	}

	private static void keepsItsDataWhenItIsKilled(DatabaseServer server) throws SQLException {
		server.execute("create table t (a int)");
		server.execute("insert into t values (1)");
		server.pause();
		server.resume();
		assertThat(number(server.url(), "select count(*) from t")).isEqualTo(1);
		server.kill();
		server.restart();
		assertThat(number(server.url(), "select count(*) from t")).isEqualTo(1);
	}

	private static int number(String url, String query) throws SQLException {
		try (Connection connection = DriverManager.getConnection(url);
				ResultSet row = connection.createStatement().executeQuery(query)) {
			row.next();
			return row.getInt(1);
		}
	}

}
