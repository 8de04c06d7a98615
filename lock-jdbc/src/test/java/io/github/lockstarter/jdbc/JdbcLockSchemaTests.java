// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.PlatformPlaceholderDatabaseDriverResolver;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The scripts that create the table.
 */
class JdbcLockSchemaTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void theScriptIsThatOfSpringBootsPlatform(TestDatabase database) throws Exception {
		assertThat(new PlatformPlaceholderDatabaseDriverResolver().resolveAll(database.unpooled(),
				JdbcLockSchema.LOCATION))
			.containsExactly(JdbcLockSchema.location(database.unpooled()));
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void theScriptCanBeRunAtEachStart(TestDatabase database) throws Exception {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setSchemaLocations(List.of(JdbcLockSchema.location(database.unpooled())));
		settings.setMode(DatabaseInitializationMode.ALWAYS);
		DataSourceScriptDatabaseInitializer initializer = new DataSourceScriptDatabaseInitializer(database.unpooled(),
				settings);
		assertThat(initializer.initializeDatabase()).isTrue();
		assertThat(initializer.initializeDatabase()).isTrue();
	}

	@Test
	void everyDialectHasAScript() {
		assertThat(Dialect.values()).allSatisfy((dialect) -> assertThat(
				new ClassPathResource("io/github/lockstarter/jdbc/schema-" + dialect.platform() + ".sql").exists())
			.isTrue());
	}

}
