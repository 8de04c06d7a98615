// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import org.springframework.dao.DataIntegrityViolationException;

import io.github.lockstarter.store.UnusableStoreException;

/**
 * Where to find the script that creates the table of a {@link JdbcLockStore}. The scripts
 * create the table {@value #TABLE}; copy and change one for another
 * {@linkplain JdbcLockSettings#table() name}.
 */
public final class JdbcLockSchema {

	/**
	 * Location of the scripts, with a placeholder for the {@linkplain #platform platform}
	 * as Spring Boot's initializers know it. Spring Boot has names for more platforms, so
	 * tell it this one.
	 */
	public static final String LOCATION = "classpath:io/github/lockstarter/jdbc/schema-@@platform@@.sql";

	/**
	 * Name of the table in the scripts.
	 */
	public static final String TABLE = "distributed_lock";

	/** What databases make of names without quotes. */
	private static final List<UnaryOperator<String>> SPELLINGS = List.of(UnaryOperator.identity(),
			(name) -> name.toLowerCase(Locale.ROOT), (name) -> name.toUpperCase(Locale.ROOT));

	private static final int LONGEST_KEY = 255;

	private static final int LONGEST_OWNER = 64;

	private static final int LONG_LINE = 10_000;

	private static final int TIMEOUT_SECONDS = 10;

	private JdbcLockSchema() {
	}

	/**
	 * Return the platform of a database: {@code postgresql}, {@code mysql},
	 * {@code mariadb}, {@code h2}, or {@code generic} for every other one.
	 * @param dataSource opens one connection to ask
	 * @throws SQLException if the database cannot be asked
	 */
	public static String platform(DataSource dataSource) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			return Dialect.of(connection).platform();
		}
	}

	/**
	 * Return the location of the script for a database.
	 * @param dataSource opens one connection to ask
	 * @throws SQLException if the database cannot be asked
	 */
	public static String location(DataSource dataSource) throws SQLException {
		return LOCATION.replace("@@platform@@", platform(dataSource));
	}

	/**
	 * Check that a table can keep locks: by a transaction that writes the rows of two
	 * locks, changes and deletes one of them, and is rolled back.
	 * @param dataSource opens one connection to ask
	 * @param table the name of the table
	 * @throws UnusableStoreException if it cannot, with the reason
	 * @throws SQLException if the database cannot be asked
	 */
	public static void requireTable(DataSource dataSource, String table) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			boolean autoCommit = connection.getAutoCommit();
			connection.setAutoCommit(false);
			try (Undo undo = () -> undo(connection, autoCommit)) {
				requireTable(connection, table);
			}
			catch (SQLException ex) {
				RuntimeException failure = SqlErrors.toThrow(ex, table);
				if (failure instanceof DataIntegrityViolationException) {
					throw new UnusableStoreException(
							"The table '" + table + "' refuses the row of a lock (" + ex.getMessage() + ")", ex);
				}
				if (failure instanceof UnusableStoreException) {
					throw failure;
				}
				throw ex;
			}
		}
	}

	private static void undo(Connection connection, boolean autoCommit) throws SQLException {
		connection.rollback();
		connection.setAutoCommit(autoCommit);
	}

	private static void requireTable(Connection connection, String table) throws SQLException {
		String key = "%" + UUID.randomUUID() + "-".repeat(LONGEST_KEY);
		String lower = key.substring(0, LONGEST_KEY - 1) + "a";
		String upper = key.substring(0, LONGEST_KEY - 1) + "A";
		insert(connection, table, lower);
		requireDistinct(insertAgain(connection, table, upper), table, "does not tell lower case from upper case");
		update(connection, "update " + table + " set owner = null where lock_key = ?", upper);
		update(connection, "delete from " + table + " where lock_key = ?", upper);
		// Asked first, because a refused row is an error in the log of the server
		requireDistinct(isPrimaryKey(connection, table) || !insertAgain(connection, table, lower), table,
				"is not its primary key");
	}

	/**
	 * Return whether the database knows the column as the primary key.
	 */
	private static boolean isPrimaryKey(Connection connection, String table) throws SQLException {
		int dot = table.indexOf('.');
		String schema = (dot >= 0) ? table.substring(0, dot) : connection.getSchema();
		for (UnaryOperator<String> spelling : SPELLINGS) {
			List<String> columns = new ArrayList<>();
			try (ResultSet key = connection.getMetaData()
				.getPrimaryKeys(connection.getCatalog(), (schema != null) ? spelling.apply(schema) : null,
						spelling.apply(table.substring(dot + 1)))) {
				while (key.next()) {
					columns.add(key.getString("COLUMN_NAME").toLowerCase(Locale.ROOT));
				}
			}
			if (columns.equals(List.of("lock_key"))) {
				return true;
			}
		}
		return false;
	}

	private static void requireDistinct(boolean distinct, String table, String problem) {
		if (!distinct) {
			throw new UnusableStoreException("The column 'lock_key' of the table '" + table + "' " + problem, null);
		}
	}

	/**
	 * Insert a row that may be there already.
	 * @return whether it was not
	 */
	private static boolean insertAgain(Connection connection, String table, String key) throws SQLException {
		try {
			insert(connection, table, key);
			return true;
		}
		catch (SQLException ex) {
			if (SqlErrors.isDuplicate(ex)) {
				return false;
			}
			throw ex;
		}
	}

	private static void insert(Connection connection, String table, String key) throws SQLException {
		update(connection,
				"insert into " + table
						+ " (lock_key, owner, expires_at, fence, line, told_at) values (?, ?, ?, ?, ?, ?)",
				key, "-".repeat(LONGEST_OWNER), Long.MAX_VALUE, Long.MAX_VALUE, "-".repeat(LONG_LINE), Long.MAX_VALUE);
	}

	private static void update(Connection connection, String sql, Object... values) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setQueryTimeout(TIMEOUT_SECONDS);
			for (int i = 0; i < values.length; i++) {
				statement.setObject(i + 1, values[i]);
			}
			statement.executeUpdate();
		}
	}

	/**
	 * Ends a check. Its own failure does not hide the reason of another one.
	 */
	private interface Undo extends AutoCloseable {

		@Override
		void close() throws SQLException;

	}

}
