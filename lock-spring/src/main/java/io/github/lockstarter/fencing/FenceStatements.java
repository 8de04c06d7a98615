// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransactionRollbackException;
import java.util.Objects;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;

/**
 * The claims of a transaction, as part of that transaction.
 *
 * @param connection the connection of the transaction
 * @param dataSource where the connection comes from
 * @param sql the statements
 */
record FenceStatements(Connection connection, DataSource dataSource, FenceSql sql) {

	/**
	 * Claim a token. Waits until transactions that have claimed another one have ended.
	 * @return whether no larger token is claimed
	 */
	boolean claim(String key, long token) throws SQLException {
		String claim = this.sql.claim();
		if (claim == null) {
			return claimInSteps(key, token);
		}
		if (this.sql.reportsToken()) {
			return Objects.equals(first(claim, key, token), token);
		}
		int count = change(claim, key, token);
		return this.sql.countsClaims() ? count > 0 : Objects.equals(first(this.sql.selectForUpdate(), key), token);
	}

	private boolean claimInSteps(String key, long token) throws SQLException {
		boolean hidden = false;
		while (change(this.sql.update(), token, key, token) == 0) {
			Long claimed = first(this.sql.selectForUpdate(), key);
			if (claimed != null && claimed > token) {
				return false;
			}
			if (claimed == null && insert(key, token)) {
				return true;
			}
			hidden = requireVisible(claimed, hidden);
		}
		return true;
	}

	/**
	 * Fail if a row exists that the transaction does not see, as its snapshot is older.
	 * @param before whether that was the case before, so that the row was not just
	 * deleted
	 */
	private static boolean requireVisible(@Nullable Long claimed, boolean before) throws SQLException {
		if (claimed == null && before) {
			throw new SQLTransactionRollbackException("The transaction began before another owner's claim", "40001");
		}
		return claimed == null;
	}

	private boolean insert(String key, long token) throws SQLException {
		try {
			return change(this.sql.insert(), key, token) > 0;
		}
		catch (SQLException ex) {
			if (new SQLExceptionSubclassTranslator().translate("claim", null, ex) instanceof DuplicateKeyException) {
				return false;
			}
			throw ex;
		}
	}

	private int change(String statement, Object... parameters) throws SQLException {
		try (PreparedStatement prepared = prepare(statement, parameters)) {
			return prepared.executeUpdate();
		}
	}

	private @Nullable Long first(String statement, Object... parameters) throws SQLException {
		try (PreparedStatement prepared = prepare(statement, parameters); ResultSet rows = prepared.executeQuery()) {
			return rows.next() ? rows.getLong(1) : null;
		}
	}

	private PreparedStatement prepare(String statement, Object... parameters) throws SQLException {
		PreparedStatement prepared = this.connection.prepareStatement(statement);
		try {
			DataSourceUtils.applyTransactionTimeout(prepared, this.dataSource);
			for (int i = 0; i < parameters.length; i++) {
				prepared.setObject(i + 1, parameters[i]);
			}
			return prepared;
		}
		catch (SQLException | RuntimeException ex) {
			prepared.close();
			throw ex;
		}
	}

}
