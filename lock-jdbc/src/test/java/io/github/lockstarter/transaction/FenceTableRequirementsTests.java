// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.time.Duration;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.github.lockstarter.testsupport.Cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * What the start refuses as a table of claims.
 */
@ExtendWith(OutputCaptureExtension.class)
class FenceTableRequirementsTests {

	@ParameterizedTest
	@EnumSource(IdleClaimsTests.Database.class)
	void theTableOfTheScriptIsAccepted(IdleClaimsTests.Database database) throws Exception {
		DataSource dataSource = new DriverManagerDataSource(database.url());
		DatabasePopulatorUtils.execute(
				new ResourceDatabasePopulator(new DefaultResourceLoader().getResource(FenceTable.schema(dataSource))),
				dataSource);
		assertThatNoException().isThrownBy(new FenceTable(dataSource)::require);
		assertThat(new JdbcTemplate(dataSource).queryForObject(
				"select count(*) from distributed_lock_fence where substring(lock_key, 1, 1) = '%'", Integer.class))
			.isZero();
	}

	@Test
	void aTableInWhichTransactionsCannotClaimIsRefused() {
		Cases.rows(
				"""
						H2         | lock_key varchar(255) primary key, token bigint                                  | CLAIMED_AT
						H2         | lock_key varchar(255) primary key, token int, claimed_at bigint                  | out of range
						H2         | lock_key varchar(9) primary key, token bigint, claimed_at bigint                 | too long
						H2         | lock_key varchar_ignorecase(255) primary key, token bigint, claimed_at bigint    | does not tell lower case from upper case
						H2         | lock_key varchar(255), token bigint, claimed_at bigint                           | is not its primary key
						H2         | lock_key varchar(255) primary key, token double precision, claimed_at bigint     | an integer of 64 bits
						MARIADB    | lock_key varchar(255) collate utf8mb4_general_ci primary key, token bigint, claimed_at bigint | does not tell lower case from upper case
						MARIADB    | lock_key varchar(255) binary, token bigint, claimed_at bigint                    | must be the primary key
						MARIADB    | lock_key varchar(255) binary primary key, token varchar(99), claimed_at bigint   | an integer of 64 bits
						POSTGRESQL | lock_key varchar(255) primary key, token int, claimed_at bigint                  | out of range
						POSTGRESQL | lock_key varchar(255), token bigint, claimed_at bigint                           | no unique
						""",
				(name, columns, reason) -> {
					IdleClaimsTests.Database database = IdleClaimsTests.Database.valueOf(name);
					DataSource dataSource = new DriverManagerDataSource(database.url());
					JdbcTemplate jdbc = new JdbcTemplate(dataSource);
					jdbc.execute("create table wrong_fence (" + columns + ")"
							+ ((database == IdleClaimsTests.Database.MARIADB) ? " default character set utf8mb4" : ""));
					try {
						assertRefused(dataSource, reason);
					}
					finally {
						jdbc.execute("drop table wrong_fence");
					}
				});
	}

	@Test
	void aTableThatTheUserMayOnlyReadIsRefused() {
		DataSource dataSource = new DriverManagerDataSource(IdleClaimsTests.Database.H2.url());
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		jdbc.execute("create table wrong_fence (lock_key varchar(255) primary key, token bigint, claimed_at bigint)");
		jdbc.execute("create user reader password ''");
		jdbc.execute("grant select on wrong_fence to reader");
		try {
			assertRefused(new DriverManagerDataSource("jdbc:h2:mem:claims", "reader", ""), "Not enough rights");
		}
		finally {
			jdbc.execute("drop table wrong_fence");
			jdbc.execute("drop user reader");
		}
	}

	@ParameterizedTest
	@EnumSource(names = "H2", mode = EnumSource.Mode.EXCLUDE)
	void connectionsThatAreReadOnlyAreWarnedOf(IdleClaimsTests.Database database, CapturedOutput output)
			throws Exception {
		DriverManagerDataSource dataSource = new DriverManagerDataSource(database.url());
		DatabasePopulatorUtils.execute(
				new ResourceDatabasePopulator(new DefaultResourceLoader().getResource(FenceTable.schema(dataSource))),
				dataSource);
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(dataSource.getUrl());
			pool.setReadOnly(true);
			new FenceTable(pool).require();
		}
		assertThat(output).contains("The connections of fenced transactions are read-only (")
			.doesNotContain("cannot be asked");
	}

	private static void assertRefused(DataSource dataSource, String reason) {
		FenceTable table = new FenceTable(dataSource, "wrong_fence", Duration.ofHours(1));
		assertThatExceptionOfType(FenceTableException.class).isThrownBy(table::require)
			.withMessageContaining("Transactions cannot claim fencing tokens in the table 'wrong_fence'")
			.withMessageContaining(reason)
			.withMessageContaining("create it with the script for your database");
	}

}
