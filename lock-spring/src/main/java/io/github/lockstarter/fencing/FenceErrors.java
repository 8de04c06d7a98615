// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.sql.SQLException;
import java.util.Set;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;

/**
 * What errors of the database mean for a claim.
 */
final class FenceErrors {

	/** MariaDB, MySQL and H2. */
	private static final Set<Integer> WAITED = Set.of(1205, 50200);

	private static final String WAITED_ON_POSTGRESQL = "55P03";

	private FenceErrors() {
	}

	static DataAccessException toThrow(SQLException ex, FenceTable table) {
		DataAccessException conflict = Claims.conflict(ex.getErrorCode(), ex);
		if (conflict != null) {
			return conflict;
		}
		if (WAITED.contains(ex.getErrorCode()) || WAITED_ON_POSTGRESQL.equals(ex.getSQLState())) {
			return new CannotAcquireLockException(Claims.TASK
					+ ": the transaction of another owner was still open at the lock time-out of the database; "
					+ ex.getMessage(), ex);
		}
		DataAccessException translated = new SQLExceptionSubclassTranslator().translate(Claims.TASK, null, ex);
		if (translated instanceof BadSqlGrammarException) {
			return new FenceTableException(table.name(), ex);
		}
		return (translated != null) ? translated : new UncategorizedSQLException(Claims.TASK, null, ex);
	}

}
