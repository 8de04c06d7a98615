// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Runs statements on one connection. Spring's {@code JdbcTemplate} would bind the
 * connection to the transaction of the caller.
 */
final class SqlSession {

	private final Connection connection;

	private final int timeoutSeconds;

	SqlSession(Connection connection, int timeoutSeconds) {
		this.connection = connection;
		this.timeoutSeconds = timeoutSeconds;
	}

	/**
	 * Change rows.
	 * @return how many
	 */
	int update(String sql, @Nullable Object... parameters) throws SQLException {
		try (TimedStatement statement = prepare(sql, parameters)) {
			int changed = statement.get().executeUpdate();
			PostgresWarnings.check(statement.get());
			return changed;
		}
	}

	/**
	 * Run statements whose results do not matter.
	 */
	void execute(String sql, @Nullable Object... parameters) throws SQLException {
		try (TimedStatement statement = prepare(sql, parameters)) {
			statement.get().execute();
			PostgresWarnings.check(statement.get());
		}
	}

	/**
	 * Change a row.
	 * @return the key that the database has generated for it, 0 if the driver does not
	 * know that, or {@code null} if no row has changed
	 */
	@Nullable Long updateForKey(String sql, @Nullable Object... parameters) throws SQLException {
		PreparedStatement prepared = this.connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS);
		try (TimedStatement statement = timed(prepared, parameters)) {
			if (statement.get().executeUpdate() == 0) {
				return null;
			}
			try (ResultSet keys = statement.get().getGeneratedKeys()) {
				return keys.next() ? keys.getLong(1) : 0;
			}
		}
	}

	/**
	 * Return what was read from the first row, or {@code null} if there is none.
	 */
	<T> @Nullable T first(String sql, RowReader<T> reader, @Nullable Object... parameters) throws SQLException {
		List<T> rows = all(sql, reader, parameters);
		return rows.isEmpty() ? null : rows.get(0);
	}

	/**
	 * Return what was read from the rows.
	 */
	<T> List<T> all(String sql, RowReader<T> reader, @Nullable Object... parameters) throws SQLException {
		try (TimedStatement statement = prepare(sql, parameters); ResultSet rows = statement.get().executeQuery()) {
			PostgresWarnings.check(statement.get());
			List<T> read = new ArrayList<>();
			while (rows.next()) {
				read.add(reader.read(rows));
			}
			return read;
		}
	}

	/**
	 * Return parameters for a list, repeated up to a power of two, so that there are few
	 * different statements.
	 */
	static <T> List<T> repeated(List<T> parameters) {
		List<T> repeated = new ArrayList<>(parameters);
		int size = Math.max(1, Integer.highestOneBit(2 * parameters.size() - 1));
		repeated.addAll(Collections.nCopies(size - parameters.size(), parameters.get(0)));
		return repeated;
	}

	private TimedStatement prepare(String sql, @Nullable Object... parameters) throws SQLException {
		return timed(this.connection.prepareStatement(sql), parameters);
	}

	private TimedStatement timed(PreparedStatement statement, @Nullable Object... parameters) throws SQLException {
		try {
			for (int i = 0; i < parameters.length; i++) {
				if (parameters[i] == null) {
					statement.setNull(i + 1, Types.VARCHAR);
				}
				else {
					statement.setObject(i + 1, parameters[i]);
				}
			}
			return new TimedStatement(statement, this.timeoutSeconds);
		}
		catch (SQLException | RuntimeException ex) {
			statement.close();
			throw ex;
		}
	}

	/**
	 * Reads one row.
	 */
	@FunctionalInterface
	interface RowReader<T> {

		T read(ResultSet row) throws SQLException;

	}

}
