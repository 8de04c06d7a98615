// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;

import javax.sql.DataSource;

import io.github.lockstarter.store.TableCheck;
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

	private static final Map<String, Object> LARGEST_ROW = Map.of("owner", "-".repeat(96), "expires_at", Long.MAX_VALUE,
			"fence", Long.MAX_VALUE, "line", "-".repeat(10_000), "told_at", Long.MAX_VALUE);

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
		try {
			new TableCheck(table, LARGEST_ROW).run(dataSource, (connection, key) -> {
				try (PreparedStatement release = connection
					.prepareStatement("update " + table + " set owner = null where lock_key = ?")) {
					release.setString(1, key);
					release.executeUpdate();
				}
			});
		}
		catch (SQLException ex) {
			if (SqlErrors.toThrow(ex, table) instanceof UnusableStoreException refused) {
				throw refused;
			}
			throw ex;
		}
	}

}
