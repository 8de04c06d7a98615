// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;

import io.github.lockstarter.jdbc.JdbcLockSchema;

/**
 * A table for locks: creates it if asked to, and checks that it exists. The first use of
 * a store may be inside a transaction, and Spring's templates would bind the connection
 * to it.
 */
final class LockTable {

	/** A start waits no longer for a database that does not answer. */
	private static final int TIMEOUT_SECONDS = 10;

	private final TableDescription table;

	private final DataSource dataSource;

	/**
	 * Create a table.
	 * @param dataSource the connections to its database
	 */
	LockTable(TableDescription table, DataSource dataSource) {
		this.table = table;
		this.dataSource = dataSource;
	}

	/**
	 * Make sure that the table exists, as far as the database can be asked.
	 * @throws LockStoreNotFoundException if the table is missing, or has to be created
	 * and cannot be
	 */
	void require(ResourceLoader resourceLoader) {
		try {
			if (unreadable() != null) {
				create(resourceLoader);
			}
		}
		catch (IOException | DataAccessException | SQLException ex) {
			this.table.unknown(ex);
		}
	}

	private void create(ResourceLoader resourceLoader) throws IOException, SQLException {
		RuntimeException failure = isWanted() ? run(resourceLoader.getResource(location())) : null;
		// Another instance may have created it at the same time
		SQLException unreadable = unreadable();
		if (unreadable != null) {
			throw (failure != null) ? failure : this.table.missing(url(), unreadable.getMessage());
		}
	}

	/**
	 * Run a script, and return why it has failed, or {@code null} if it has not.
	 */
	private @Nullable RuntimeException run(Resource script) throws IOException, SQLException {
		ResourceDatabasePopulator populator = populator(script);
		try (Connection connection = this.dataSource.getConnection()) {
			populator.populate(connection);
			return null;
		}
		catch (DataAccessException ex) {
			return this.table.notCreated(script, ex);
		}
	}

	private ResourceDatabasePopulator populator(Resource script) throws IOException {
		ResourceDatabasePopulator populator = new ResourceDatabasePopulator(this.table.adapt(script));
		populator.setSqlScriptEncoding(StandardCharsets.UTF_8.name());
		return populator;
	}

	private boolean isWanted() throws SQLException {
		return switch (this.table.initializeSchema()) {
			case ALWAYS -> true;
			case EMBEDDED -> isEmbedded();
			case NEVER -> false;
		};
	}

	private boolean isEmbedded() throws SQLException {
		String url = url();
		return EmbeddedDatabaseConnection.isEmbedded(DatabaseDriver.fromJdbcUrl(url).getDriverClassName(), url);
	}

	private @Nullable String url() throws SQLException {
		try (Connection connection = this.dataSource.getConnection()) {
			return connection.getMetaData().getURL();
		}
	}

	private String location() throws SQLException {
		return this.table.location(this.table.asksForPlatform() ? JdbcLockSchema.platform(this.dataSource) : "");
	}

	/**
	 * Return why the table cannot be read, or {@code null} if it can be.
	 */
	private @Nullable SQLException unreadable() throws SQLException {
		try (Connection connection = this.dataSource.getConnection();
				Statement statement = connection.createStatement()) {
			statement.setQueryTimeout(TIMEOUT_SECONDS);
			statement.executeQuery("select " + this.table.columns() + " from " + this.table.name() + " where 1 = 0")
				.close();
			return null;
		}
		catch (SQLException ex) {
			if (new SQLExceptionSubclassTranslator().translate("lock", null, ex) instanceof BadSqlGrammarException) {
				return ex;
			}
			throw ex;
		}
	}

}
