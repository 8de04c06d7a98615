// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.regex.Matcher;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.github.lockstarter.store.DatabaseAddress;

/**
 * The script that creates tables. Spring Boot's initializers would bind the connection to
 * a transaction of the thread, if the first use of a store is inside of one.
 *
 * @param schema its location, which may have a placeholder for the platform
 * @param platform the platform, or {@code auto} to ask the database
 * @param asked returns the platform of a database
 * @param tables the names that the tables of the script get
 * @param resourceLoader finds the script
 */
record TableScript(String schema, String platform, PlatformOf asked, Map<String, String> tables,
		ResourceLoader resourceLoader) {

	private static final String PLATFORM = "@@platform@@";

	/**
	 * Return whether a script has to run if there is no table.
	 * @throws SQLException if the database cannot be asked
	 */
	static boolean isWanted(JdbcLockProperties.SchemaInitialization when, DataSource dataSource) throws SQLException {
		return switch (when) {
			case ALWAYS -> true;
			case EMBEDDED -> {
				String url = DatabaseAddress.urlOf(dataSource);
				yield EmbeddedDatabaseConnection.isEmbedded(DatabaseDriver.fromJdbcUrl(url).getDriverClassName(), url);
			}
			case NEVER -> false;
		};
	}

	/**
	 * Make sure that a table can be used: run the script if it cannot. Another instance
	 * may do so at the same time, so a failure does not mean that there is no table.
	 * @param wanted whether to run the script
	 * @param check checks the table
	 * @param unusable the type of the exception of an unusable table
	 * @return the problem that remains, or {@code null} if there is none
	 */
	<E extends RuntimeException> @Nullable Problem<E> prepare(DataSource dataSource, Wish wanted, Check check,
			Class<E> unusable) throws SQLException {
		E problem = problem(check, unusable);
		if (problem == null || !wanted.isTrue()) {
			return (problem != null) ? new Problem<>(problem, null) : null;
		}
		Exception failure = run(dataSource);
		problem = problem(check, unusable);
		return (problem != null) ? new Problem<>(problem, failure) : null;
	}

	private static <E extends RuntimeException> @Nullable E problem(Check check, Class<E> unusable)
			throws SQLException {
		try {
			check.run();
			return null;
		}
		catch (RuntimeException ex) {
			if (unusable.isInstance(ex)) {
				return unusable.cast(ex);
			}
			throw ex;
		}
	}

	private @Nullable Exception run(DataSource dataSource) {
		try {
			Resource script = this.resourceLoader.getResource(location(dataSource));
			String sql = script.getContentAsString(StandardCharsets.UTF_8);
			for (Map.Entry<String, String> each : this.tables.entrySet()) {
				sql = sql.replaceAll("\\b" + each.getKey() + "\\b", Matcher.quoteReplacement(each.getValue()));
			}
			ResourceDatabasePopulator populator = new ResourceDatabasePopulator(
					new ByteArrayResource(sql.getBytes(StandardCharsets.UTF_8), script.getDescription()));
			populator.setSqlScriptEncoding(StandardCharsets.UTF_8.name());
			try (Connection connection = dataSource.getConnection()) {
				populator.populate(connection);
			}
			return null;
		}
		catch (IOException | SQLException | RuntimeException ex) {
			return ex;
		}
	}

	private String location(DataSource dataSource) throws SQLException {
		if (!this.schema.contains(PLATFORM)) {
			return this.schema;
		}
		return this.schema.replace(PLATFORM,
				this.platform.equals(PropertyChecks.AUTO) ? this.asked.get(dataSource) : this.platform);
	}

	/**
	 * A table that cannot be used.
	 *
	 * @param table why
	 * @param script why the script has failed, or {@code null} if it has not
	 */
	record Problem<E extends RuntimeException>(E table, @Nullable Exception script) {

	}

	/**
	 * Tells whether to run the script.
	 */
	interface Wish {

		boolean isTrue() throws SQLException;

	}

	/**
	 * Checks a table.
	 */
	interface Check {

		void run() throws SQLException;

	}

	/**
	 * Returns the platform of a database.
	 */
	interface PlatformOf {

		String get(DataSource dataSource) throws SQLException;

	}

}
