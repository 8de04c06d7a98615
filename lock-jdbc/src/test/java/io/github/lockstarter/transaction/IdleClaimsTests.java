// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.transaction;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.github.lockstarter.servers.SharedServers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Claims of idle locks are deleted at the start, by the clock of the database.
 */
class IdleClaimsTests {

	@ParameterizedTest
	@EnumSource
	void claimsThatAreOlderThanTheRetentionAreDeleted(Database database) throws Exception {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(database.url());
			pool.setAutoCommit(false);
			DatabasePopulatorUtils.execute(
					new ResourceDatabasePopulator(new DefaultResourceLoader().getResource(FenceTable.schema(pool))),
					pool);
			JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(pool.getJdbcUrl()));
			FenceTable table = new FenceTable(pool, FenceTable.DEFAULT_NAME, Duration.ofHours(1));
			claim(table, "new");
			claim(table, "idle");
			jdbc.update("update distributed_lock_fence set claimed_at = claimed_at - ? where lock_key = 'new'",
					Duration.ofMinutes(59).toMillis());
			jdbc.update("update distributed_lock_fence set claimed_at = claimed_at - ? where lock_key = 'idle'",
					Duration.ofMinutes(61).toMillis());
			try (Connection open = pool.getConnection()) {
				// The deletion does not wait for an open claim
				assertThat(table.claim(open, "new", 2)).isTrue();
				table.require();
				open.rollback();
			}
			assertThat(jdbc.queryForList("select lock_key from distributed_lock_fence", String.class))
				.containsExactly("new");
		}
	}

	/** The time-out of a statement is that of its whole connection on H2. */
	@ParameterizedTest
	@EnumSource
	void theConnectionsOfTheApplicationKeepTheirTimeOut(Database database) throws Exception {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(database.url());
			pool.setMaximumPoolSize(1);
			DatabasePopulatorUtils.execute(
					new ResourceDatabasePopulator(new DefaultResourceLoader().getResource(FenceTable.schema(pool))),
					pool);
			new FenceTable(pool).require();
			try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
				assertThat(statement.getQueryTimeout()).isZero();
			}
		}
	}

	private static void claim(FenceTable table, String key) throws Exception {
		try (Connection connection = table.dataSource().getConnection()) {
			assertThat(table.claim(connection, key, 1)).isTrue();
			connection.commit();
		}
	}

	enum Database {

		POSTGRESQL(SharedServers::postgres),

		MARIADB(SharedServers::mariaDb),

		H2(() -> "jdbc:h2:mem:claims;DB_CLOSE_DELAY=-1");

		private final Supplier<String> url;

		Database(Supplier<String> url) {
			this.url = url;
		}

		String url() {
			return this.url.get();
		}

	}

}
