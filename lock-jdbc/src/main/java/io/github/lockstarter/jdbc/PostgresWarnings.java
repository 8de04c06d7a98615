// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.SQLWarning;
import java.sql.Statement;

import org.postgresql.util.PSQLWarning;
import org.postgresql.util.ServerErrorMessage;

import org.springframework.util.ClassUtils;

/**
 * Warnings of PostgreSQL that are failures for a lock. A commit that has stopped waiting
 * for the replicas, because its statement took too long, takes effect with a warning: a
 * replica that takes over may not know the lease.
 */
final class PostgresWarnings {

	private static final boolean DRIVER = ClassUtils.isPresent("org.postgresql.util.PSQLWarning",
			PostgresWarnings.class.getClassLoader());

	/** The function of the server that warns. Its text may be in any language. */
	private static final String WAIT_FOR_REPLICAS = "SyncRepWaitForLSN";

	private PostgresWarnings() {
	}

	/**
	 * Check the warnings of a statement that was executed.
	 */
	static void check(Statement statement) throws SQLException {
		if (!DRIVER) {
			return;
		}
		for (SQLWarning warning = statement.getWarnings(); warning != null; warning = warning.getNextWarning()) {
			ServerErrorMessage message = (warning instanceof PSQLWarning own) ? own.getServerErrorMessage() : null;
			if (message != null && WAIT_FOR_REPLICAS.equals(message.getRoutine())) {
				// A time-out would look like a row that somebody has locked
				throw new SQLTransientConnectionException(message.getMessage(), message.getSQLState());
			}
		}
	}

}
