// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * A statement that may take a limited time. The limit is lifted when it is closed: on H2
 * it concerns the whole connection, which may be one of the application.
 */
final class TimedStatement implements AutoCloseable {

	private final PreparedStatement statement;

	private final int secondsBefore;

	TimedStatement(PreparedStatement statement, int seconds) throws SQLException {
		this.statement = statement;
		this.secondsBefore = statement.getQueryTimeout();
		statement.setQueryTimeout(seconds);
	}

	PreparedStatement get() {
		return this.statement;
	}

	@Override
	public void close() throws SQLException {
		try (this.statement) {
			this.statement.setQueryTimeout(this.secondsBefore);
		}
	}

}
