// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.PlatformPlaceholderDatabaseDriverResolver;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.io.ClassPathResource;

import io.github.lockstarter.store.UnusableStoreException;
import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

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

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void theTableOfTheScriptCanKeepLocks(TestDatabase database) {
		assertThatCode(() -> JdbcLockSchema.requireTable(database.unpooled(), JdbcLockSchema.TABLE))
			.doesNotThrowAnyException();
		assertThat(database.jdbc()
			.queryForObject("select count(*) from distributed_lock where substring(lock_key, 1, 1) = '%'",
					Integer.class))
			.isZero();
	}

	@Test
	void aTableThatRefusesARowCannotKeepLocks() {
		Cases.rows("""
				line varchar(10000)                                    | check that the table 'wrong'
				line varchar(10000), told_at int                       | refuses the row of a lock
				line varchar(20), told_at bigint                       | refuses the row of a lock
				line varchar(10000), told_at bigint, more int not null | refuses the row of a lock
				""", (columns, reason) -> {
			String types = "lock_key varchar(255) not null primary key, owner varchar(96), expires_at bigint, fence bigint, ";
			assertThat(problem(TestDatabase.H2, types + columns)).contains(reason);
			assertThat(problem(TestDatabase.POSTGRESQL, types + columns)).contains(reason);
		});
	}

	@ParameterizedTest
	@CsvSource({ "H2, varchar_ignorecase(255)",
			"MARIADB, varchar(255) character set utf8mb4 collate utf8mb4_general_ci" })
	void aTableThatDoesNotTellUpperFromLowerCaseCannotKeepLocks(TestDatabase database, String type) {
		assertThat(problem(database,
				"lock_key " + type + " not null primary key, owner varchar(96), expires_at bigint,"
						+ " fence bigint, line varchar(10000), told_at bigint"))
			.isEqualTo("The column 'lock_key' of the table 'wrong' does not tell lower case from upper case");
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void aTableWithoutAPrimaryKeyCannotKeepLocks(TestDatabase database) {
		assertThat(problem(database,
				"lock_key varchar(255)" + ((database == TestDatabase.MARIADB) ? " binary" : "")
						+ ", owner varchar(96), expires_at bigint, fence bigint, line varchar(10000), told_at bigint"))
			.isEqualTo("The column 'lock_key' of the table 'wrong' is not its primary key");
	}

	@Test
	void aFailingRollbackDoesNotHideTheReason() {
		DataSource failing = new CountedStatements(TestDatabase.H2.unpooled()) {

			@Override
			void count(String statement) throws SQLException {
				if (statement.equals("rollback")) {
					throw new SQLException("no rollback");
				}
			}

		};
		assertThat(catchThrowableOfType(UnusableStoreException.class,
				() -> JdbcLockSchema.requireTable(failing, "missing")))
			.hasMessageContaining("check that the table 'missing'")
			.cause()
			.hasSuppressedException(new SQLException("no rollback"));
	}

	private static String problem(TestDatabase database, String columns) {
		database.jdbc().execute("create table wrong (" + columns + ")");
		try {
			return catchThrowableOfType(UnusableStoreException.class,
					() -> JdbcLockSchema.requireTable(database.unpooled(), "wrong"))
				.getMessage();
		}
		finally {
			database.jdbc().execute("drop table wrong");
		}
	}

	@Test
	void everyDialectHasAScript() {
		assertThat(Dialect.values()).allSatisfy((dialect) -> assertThat(
				new ClassPathResource("io/github/lockstarter/jdbc/schema-" + dialect.platform() + ".sql").exists())
			.isTrue());
	}

	/** Either script may come first. */
	@Test
	void theTableOfFencedTransactionsIsThatOfTheirOwnScript() {
		Cases.each(List.of("h2", "mariadb", "mysql", "postgresql"), (platform) -> {
			assertThat(statements("jdbc", platform)).hasSize(2)
				.last()
				.isEqualTo(statements("fencing", platform).get(0));
			assertThat(statements("fencing", platform)).hasSize(1);
		});
	}

	private static List<String> statements(String folder, String platform) throws IOException {
		String script = new ClassPathResource("io/github/lockstarter/" + folder + "/schema-" + platform + ".sql")
			.getContentAsString(StandardCharsets.UTF_8);
		return Arrays.stream(script.replaceAll("--.*", "").split(";"))
			.map(String::strip)
			.filter((statement) -> !statement.isEmpty())
			.toList();
	}

}
