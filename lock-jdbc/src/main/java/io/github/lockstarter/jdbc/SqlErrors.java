// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.SQLException;
import java.util.Set;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;

import io.github.lockstarter.store.UnusableStoreException;

/**
 * The meaning of errors of the database.
 */
final class SqlErrors {

	/**
	 * MariaDB and H2: another transaction has changed the row. They have no SQL state of
	 * their own.
	 */
	private static final Set<Integer> CONCURRENCY_CODES = Set.of(1020, 90131);

	/** MySQL and MariaDB: waited too long for the lock of a row. */
	private static final int LOCK_TIMEOUT_CODE = 1205;

	/** The same on PostgreSQL. */
	private static final String LOCK_TIMEOUT_STATE = "55P03";

	/** Standard SQL: the transaction may only read. */
	private static final String READ_ONLY_STATE = "25006";

	/** MySQL and MariaDB: the server runs with {@code read_only}, or is a replica. */
	private static final Set<Integer> READ_ONLY_CODES = Set.of(1290, 1836);

	/** PostgreSQL: its encoding lacks a character. */
	private static final String ENCODING_STATE = "22P05";

	private static final SQLExceptionTranslator translator = new SQLExceptionSubclassTranslator();

	private SqlErrors() {
	}

	/**
	 * Return whether the database has rolled the statement back because of another one at
	 * the same time, so that it can be repeated at once.
	 */
	static boolean isConcurrency(SQLException ex) {
		return translate(ex) instanceof ConcurrencyFailureException || CONCURRENCY_CODES.contains(ex.getErrorCode());
	}

	/**
	 * Return whether the server may not write, as a replica.
	 */
	static boolean isReadOnly(SQLException ex) {
		return READ_ONLY_STATE.equals(ex.getSQLState()) || READ_ONLY_CODES.contains(ex.getErrorCode());
	}

	/**
	 * Return whether a row exists already.
	 */
	static boolean isDuplicate(SQLException ex) {
		return translate(ex) instanceof DuplicateKeyException;
	}

	/**
	 * Return the exception to throw.
	 * @param ex the exception of the driver
	 * @param table the table of the locks
	 */
	static RuntimeException toThrow(SQLException ex, String table) {
		if (ENCODING_STATE.equals(ex.getSQLState())) {
			return new IllegalArgumentException(ex.getMessage() + "; use keys without such characters, or a database"
					+ " with the encoding UTF8 for the locks", ex);
		}
		DataAccessException translated = translate(ex);
		if (translated instanceof BadSqlGrammarException) {
			return new UnusableStoreException("The database refuses a statement of the locks (" + ex.getMessage()
					+ "): check that the table '" + table
					+ "' was created with the script of this version, and that the user may select, insert, update"
					+ " and delete its rows", ex);
		}
		return translated;
	}

	/** Repeated at once, such a request would take many times as long as it may. */
	private static boolean isLockTimeout(SQLException ex) {
		return LOCK_TIMEOUT_STATE.equals(ex.getSQLState())
				|| (ex.getErrorCode() == LOCK_TIMEOUT_CODE && "HY000".equals(ex.getSQLState()));
	}

	private static DataAccessException translate(SQLException ex) {
		if (isLockTimeout(ex)) {
			return new QueryTimeoutException("lock; " + ex.getMessage(), ex);
		}
		DataAccessException translated = translator.translate("lock", null, ex);
		return (translated != null) ? translated : new UncategorizedSQLException("lock", null, ex);
	}

}
