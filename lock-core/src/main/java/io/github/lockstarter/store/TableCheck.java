// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

import javax.sql.DataSource;

/**
 * Checks that a table of a database can keep a row for each lock, with its
 * {@linkplain RowKey key} in the column {@code lock_key}: by a transaction that writes
 * the rows of two locks, changes and deletes one of them, and is rolled back. A database
 * that ignores trailing spaces passes, because such a key has none: it writes
 * {@code %20}. Tells as well whether two sources of connections lead to the same table.
 *
 * @param table the name of the table
 * @param row the largest values of the other columns
 */
public record TableCheck(String table, Map<String, Object> row) {

	/** What databases make of names without quotes. */
	private static final List<UnaryOperator<String>> SPELLINGS = List.of(UnaryOperator.identity(),
			(name) -> name.toLowerCase(Locale.ROOT), (name) -> name.toUpperCase(Locale.ROOT));

	private static final int LONGEST_KEY = 255;

	private static final String CONSTRAINT = "23";

	private static final String DATA = "22";

	/** There is no such table: MariaDB, MySQL and H2; PostgreSQL. */
	private static final Pattern MISSING = Pattern.compile("42S0.|42P01");

	/** H2, where others call it an error of syntax or access. */
	private static final String NO_RIGHTS = "90096";

	private static final int TIMEOUT_SECONDS = 10;

	/**
	 * Check the table.
	 * @param dataSource opens one connection to ask
	 * @param use changes the row of a lock
	 * @throws UnusableStoreException if the keys of locks cannot be told apart, or a row
	 * is refused
	 * @throws SQLException if the database refuses a statement, or cannot be asked
	 */
	public void run(DataSource dataSource, Use use) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			boolean autoCommit = connection.getAutoCommit();
			connection.setAutoCommit(false);
			try (Undo undo = () -> undo(connection, autoCommit)) {
				run(connection, use);
			}
			catch (SQLException ex) {
				if (isRefusal(ex)) {
					throw new UnusableStoreException(
							"The table '" + this.table + "' refuses the row of a lock (" + ex.getMessage() + ")", ex);
				}
				throw ex;
			}
		}
	}

	/**
	 * Return whether the table is the same for others: whether they see a row that is
	 * written for a moment. The addresses of a database do not tell, because it may have
	 * several.
	 * @param dataSource opens two connections to write
	 * @param other opens one connection to look
	 * @throws SQLException if a database cannot be asked
	 */
	public boolean isShared(DataSource dataSource, DataSource other) throws SQLException {
		String key = "%" + UUID.randomUUID();
		write(dataSource, key, this::insert);
		try (Connection connection = other.getConnection()) {
			return execute(connection, "select 1 from " + this.table + " where lock_key = ?", List.of(key));
		}
		catch (SQLException ex) {
			if (ex.getSQLState() != null && MISSING.matcher(ex.getSQLState()).matches()) {
				return false;
			}
			throw ex;
		}
		finally {
			write(dataSource, key, this::delete);
		}
	}

	private static void write(DataSource dataSource, String key, Use use) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			use.on(connection, key);
			// Some pools hand out connections without automatic commits
			if (!connection.getAutoCommit()) {
				connection.commit();
			}
		}
	}

	private static void undo(Connection connection, boolean autoCommit) throws SQLException {
		connection.rollback();
		connection.setAutoCommit(autoCommit);
	}

	private void run(Connection connection, Use use) throws SQLException {
		String key = ("%" + UUID.randomUUID() + "-".repeat(LONGEST_KEY)).substring(0, LONGEST_KEY - 1);
		insert(connection, key + "a");
		require(insertAgain(connection, key + "A"), "does not tell lower case from upper case");
		use.on(connection, key + "A");
		delete(connection, key + "A");
		// Asked first, because a refused row is an error in the log of the server
		require(isPrimaryKey(connection) || !insertAgain(connection, key + "a"), "is not its primary key");
	}

	private void require(boolean distinct, String problem) {
		if (!distinct) {
			throw new UnusableStoreException("The column 'lock_key' of the table '" + this.table + "' " + problem,
					null);
		}
	}

	private void insert(Connection connection, String key) throws SQLException {
		List<Object> values = new ArrayList<>(List.of(key));
		values.addAll(this.row.values());
		execute(connection, "insert into " + this.table + " (lock_key, " + String.join(", ", this.row.keySet())
				+ ") values (" + String.join(", ", Collections.nCopies(values.size(), "?")) + ")", values);
	}

	private void delete(Connection connection, String key) throws SQLException {
		execute(connection, "delete from " + this.table + " where lock_key = ?", List.of(key));
	}

	/**
	 * Insert a row that may be there already. One with the same values was not refused.
	 * @return whether it was not
	 */
	private boolean insertAgain(Connection connection, String key) throws SQLException {
		try {
			insert(connection, key);
			return true;
		}
		catch (SQLException ex) {
			if (hasState(ex, CONSTRAINT)) {
				return false;
			}
			throw ex;
		}
	}

	private static boolean isRefusal(SQLException ex) {
		return hasState(ex, CONSTRAINT) || hasState(ex, DATA) || hasState(ex, NO_RIGHTS);
	}

	private static boolean hasState(SQLException ex, String start) {
		return ex.getSQLState() != null && ex.getSQLState().startsWith(start);
	}

	/**
	 * Return whether the database knows the column as the primary key.
	 */
	private boolean isPrimaryKey(Connection connection) throws SQLException {
		int dot = this.table.indexOf('.');
		String schema = (dot >= 0) ? this.table.substring(0, dot) : connection.getSchema();
		for (UnaryOperator<String> spelling : SPELLINGS) {
			List<String> columns = new ArrayList<>();
			try (ResultSet key = connection.getMetaData()
				.getPrimaryKeys(connection.getCatalog(), (schema != null) ? spelling.apply(schema) : null,
						spelling.apply(this.table.substring(dot + 1)))) {
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

	/**
	 * Execute a statement.
	 * @return whether it has found a row
	 */
	private static boolean execute(Connection connection, String sql, List<?> values) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql)) {
			statement.setQueryTimeout(TIMEOUT_SECONDS);
			for (int i = 0; i < values.size(); i++) {
				statement.setObject(i + 1, values.get(i));
			}
			boolean found = statement.execute() && statement.getResultSet().next();
			// With H2, the time-out is that of the whole connection
			statement.setQueryTimeout(0);
			return found;
		}
	}

	/**
	 * Changes the row of a lock as its owner does.
	 */
	@FunctionalInterface
	public interface Use {

		/**
		 * Change a row.
		 * @param connection to the database, in a transaction
		 * @param key the key of the row
		 * @throws UnusableStoreException if the table cannot be used so
		 */
		void on(Connection connection, String key) throws SQLException;

	}

	/**
	 * Ends a check. Its own failure does not hide the reason of another one.
	 */
	private interface Undo extends AutoCloseable {

		@Override
		void close() throws SQLException;

	}

}
