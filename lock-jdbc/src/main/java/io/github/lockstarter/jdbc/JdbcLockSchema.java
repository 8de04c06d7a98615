// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

/**
 * Where to find the script that creates the table of a {@link JdbcLockStore}. The scripts
 * create the table {@code distributed_lock}; copy and change one for another
 * {@linkplain JdbcLockSettings#tablePrefix() prefix}.
 */
public final class JdbcLockSchema {

	/**
	 * Location of the scripts, with a placeholder for the {@linkplain #platform platform}
	 * as Spring Boot's initializers know it. Spring Boot has names for more platforms, so
	 * tell it this one.
	 */
	public static final String LOCATION = "classpath:io/github/lockstarter/jdbc/schema-@@platform@@.sql";

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

}
