// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;

import io.github.lockstarter.jdbc.JdbcLockSchema;

/**
 * The table of the locks: creates it if asked to, and checks that it exists. The first
 * use of a store may be inside a transaction, and Spring's templates would bind the
 * connection to it.
 */
final class LockTable {

	private static final Log logger = LogFactory.getLog(LockTable.class);

	private static final String PLATFORM = "@@platform@@";

	private static final String NAME_IN_SCRIPTS = "distributed_lock";

	private final String name;

	private final JdbcLockProperties properties;

	private final DataSource dataSource;

	/**
	 * Create the description of a table.
	 * @param name the name of the table
	 * @param dataSource the connections of the locks
	 */
	LockTable(String name, JdbcLockProperties properties, DataSource dataSource) {
		this.name = name;
		this.properties = properties;
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
			String unknown = "The database of the locks cannot be asked ("
					+ NestedExceptionUtils.getMostSpecificCause(ex).getMessage() + ")";
			if (this.properties.initializeSchema() == JdbcLockProperties.SchemaInitialization.ALWAYS) {
				throw new LockStoreNotFoundException(unknown + ", so the table '" + this.name + "' cannot be created",
						"correct the address, the username and the password of the database, start the database first, or"
								+ " remove distributed-lock.jdbc.initialize-schema=always and create the table with a migration");
			}
			logger.warn(unknown + ". No lock is granted until it can be, and has the table '" + this.name + "'");
		}
	}

	private void create(ResourceLoader resourceLoader) throws IOException, SQLException {
		LockStoreNotFoundException failure = isWanted() ? run(resourceLoader.getResource(location())) : null;
		// Another instance may have created it at the same time
		SQLException unreadable = unreadable();
		if (unreadable != null) {
			throw (failure != null) ? failure : missing(unreadable);
		}
	}

	/**
	 * Run a script, and return why it has failed, or {@code null} if it has not.
	 */
	private @Nullable LockStoreNotFoundException run(Resource script) throws IOException, SQLException {
		ResourceDatabasePopulator populator = populator(script);
		try (Connection connection = this.dataSource.getConnection()) {
			populator.populate(connection);
			return null;
		}
		catch (DataAccessException ex) {
			return notCreated(script, ex);
		}
	}

	private ResourceDatabasePopulator populator(Resource script) throws IOException {
		if (!script.exists()) {
			throw new LockStoreNotFoundException(
					"There is no script for the table of the locks: " + script.getDescription(),
					"set distributed-lock.jdbc.platform to h2, mariadb, mysql, postgresql or generic, or"
							+ " distributed-lock.jdbc.schema to the location of a script of your own");
		}
		String sql = script.getContentAsString(StandardCharsets.UTF_8).replace(NAME_IN_SCRIPTS, this.name);
		ResourceDatabasePopulator populator = new ResourceDatabasePopulator(
				new ByteArrayResource(sql.getBytes(StandardCharsets.UTF_8), script.getDescription()));
		populator.setSqlScriptEncoding(StandardCharsets.UTF_8.name());
		return populator;
	}

	private boolean isWanted() throws SQLException {
		return switch (this.properties.initializeSchema()) {
			case ALWAYS -> true;
			case EMBEDDED -> isEmbedded();
			case NEVER -> false;
		};
	}

	private boolean isEmbedded() throws SQLException {
		try (Connection connection = this.dataSource.getConnection()) {
			String url = connection.getMetaData().getURL();
			return EmbeddedDatabaseConnection.isEmbedded(DatabaseDriver.fromJdbcUrl(url).getDriverClassName(), url);
		}
	}

	private String location() throws SQLException {
		String platform = this.properties.platform();
		return this.properties.schema()
			.replace(PLATFORM, platform.equals(Property.AUTO) ? JdbcLockSchema.platform(this.dataSource) : platform);
	}

	/**
	 * Return why the table cannot be read, or {@code null} if it can be.
	 */
	private @Nullable SQLException unreadable() throws SQLException {
		try (Connection connection = this.dataSource.getConnection();
				Statement statement = connection.createStatement()) {
			Duration timeout = this.properties.queryTimeout();
			statement.setQueryTimeout(Math.toIntExact(timeout.plusMillis(999).toSeconds()));
			statement.executeQuery("select lock_key, owner from " + this.name + " where 1 = 0").close();
			return null;
		}
		catch (SQLException ex) {
			if (new SQLExceptionSubclassTranslator().translate("lock", null, ex) instanceof BadSqlGrammarException) {
				return ex;
			}
			throw ex;
		}
	}

	private LockStoreNotFoundException notCreated(Resource script, DataAccessException failure) {
		return new LockStoreNotFoundException(
				"The script for the table '" + this.name + "' of the locks, " + script.getDescription() + ", failed ("
						+ NestedExceptionUtils.getMostSpecificCause(failure).getMessage() + ")",
				"choose the script of your database with distributed-lock.jdbc.platform, name a script of your own in"
						+ " distributed-lock.jdbc.schema, grant the user create, or create the table with a migration");
	}

	private LockStoreNotFoundException missing(SQLException failure) {
		String action = "create the table with the script for your database in io/github/lockstarter/jdbc of lock-jdbc,"
				+ " and grant the user select, insert, update and delete on it";
		return new LockStoreNotFoundException(
				"The database has no table '" + this.name + "' for the locks, or the user may not read it ("
						+ failure.getMessage() + ")",
				(this.properties.initializeSchema() == JdbcLockProperties.SchemaInitialization.ALWAYS) ? action
						: action + ", or set distributed-lock.jdbc.initialize-schema=always");
	}

}
