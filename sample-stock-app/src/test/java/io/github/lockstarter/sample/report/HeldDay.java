// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.report;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.LocalDate;

/**
 * A transaction that has inserted the report of a day and neither commits nor rolls back.
 * Another insert of the same report waits for it, and fails when the database times out.
 */
final class HeldDay implements AutoCloseable {

	private final Connection connection;

	HeldDay(Path directory, LocalDate day) throws IOException, SQLException {
		this.connection = DriverManager
			.getConnection("jdbc:h2:file:" + directory.toRealPath().resolve("shop") + ";AUTO_SERVER=TRUE", "sa", "");
		this.connection.setAutoCommit(false);
		try (PreparedStatement insert = this.connection.prepareStatement("insert into daily_report values (?, 0, 0)")) {
			insert.setObject(1, day);
			insert.executeUpdate();
		}
	}

	@Override
	public void close() throws SQLException {
		this.connection.rollback();
		this.connection.close();
	}

}
