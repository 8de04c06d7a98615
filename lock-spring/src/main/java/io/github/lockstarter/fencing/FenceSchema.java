// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

/**
 * Where to find the script that creates the table of a {@link FenceTable}.
 */
public final class FenceSchema {

	/**
	 * Location of the scripts, with a placeholder for the {@linkplain #platform
	 * platform}.
	 */
	public static final String LOCATION = "classpath:io/github/lockstarter/fencing/schema-@@platform@@.sql";

	private FenceSchema() {
	}

	/**
	 * Return the platform of a database: {@code postgresql}, {@code mysql},
	 * {@code mariadb}, {@code h2}, or {@code generic} for every other one.
	 * @param dataSource opens one connection to ask
	 * @throws SQLException if the database cannot be asked
	 */
	public static String platform(DataSource dataSource) throws SQLException {
		try (Connection connection = dataSource.getConnection()) {
			return FenceDialect.of(connection).platform();
		}
	}

}
