// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

import org.springframework.boot.jdbc.autoconfigure.JdbcConnectionDetails;

/**
 * The H2 database of all instances without a configured database. The first instance
 * opens its file and serves the others, until the next one takes over.
 */
class EmbeddedDatabase implements JdbcConnectionDetails, AutoCloseable {

	private final String url;

	private final Connection connection;

	EmbeddedDatabase(SharedDirectory directory) throws IOException, SQLException {
		// By default, H2 would serve the others on all interfaces
		System.setProperty("h2.bindAddress", "127.0.0.1");
		this.url = "jdbc:h2:file:" + directory.resolve("shop") + ";AUTO_SERVER=TRUE;LOCK_TIMEOUT=10000";
		this.connection = directory.alone(() -> DriverManager.getConnection(this.url, getUsername(), getPassword()));
	}

	@Override
	public String getJdbcUrl() {
		return this.url;
	}

	@Override
	public String getUsername() {
		return "sa";
	}

	@Override
	public String getPassword() {
		return "";
	}

	@Override
	public void close() throws SQLException {
		this.connection.close();
	}

}
