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

import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * The script that creates tables. Spring Boot's initializers would bind the connection to
 * a transaction of the thread, if the first use of a store is inside of one.
 *
 * @param schema its location, which may have a placeholder for the platform
 * @param platform the platform, or {@code auto} to ask the database
 * @param tables the names that the tables of the script get
 */
record TableScript(String schema, String platform, Map<String, String> tables) {

	private static final String PLATFORM = "@@platform@@";

	/**
	 * Run the script. Another instance may do so at the same time, so a failure does not
	 * mean that there is no table.
	 * @param asked returns the platform of the database
	 * @return the failure, or {@code null} if there is none
	 */
	@Nullable Exception run(DataSource dataSource, ResourceLoader resourceLoader, PlatformOf asked) {
		try {
			Resource script = resourceLoader.getResource(location(dataSource, asked));
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

	private String location(DataSource dataSource, PlatformOf asked) throws SQLException {
		if (!this.schema.contains(PLATFORM)) {
			return this.schema;
		}
		return this.schema.replace(PLATFORM,
				this.platform.equals(PropertyChecks.AUTO) ? asked.get(dataSource) : this.platform);
	}

	/**
	 * Returns the platform of a database.
	 */
	interface PlatformOf {

		String get(DataSource dataSource) throws SQLException;

	}

}
