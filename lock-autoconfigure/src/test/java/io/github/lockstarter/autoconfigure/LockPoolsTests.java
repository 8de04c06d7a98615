// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.SQLExceptionOverride;
import com.zaxxer.hikari.SQLExceptionOverride.Override;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.github.lockstarter.servers.SharedServers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LockPoolsTests {

	private final String table = "stock_" + UUID.randomUUID().toString().replace('-', '_');

	/** After a failover, old connections lead to a server that has become a replica. */
	@Test
	void aConnectionToAServerThatMayNotWriteIsReplacedAfterItsFirstError() throws SQLException {
		try (HikariDataSource application = new HikariDataSource()) {
			application.setJdbcUrl(SharedServers.postgres());
			try (LockPools pools = new LockPools(application, 1)) {
				assertReplaced(pools.acquiring());
				assertReplaced(pools.owned());
			}
		}
	}

	private void assertReplaced(DataSource pool) throws SQLException {
		run(pool, "set session characteristics as transaction read only");
		assertThatExceptionOfType(SQLException.class)
			.isThrownBy(() -> run(pool, "create table " + this.table + " (id int)"))
			.extracting(SQLException::getSQLState)
			.isEqualTo("25006");
		run(pool, "create table " + this.table + " (id int)");
		run(pool, "drop table " + this.table);
	}

	private static void run(DataSource pool, String sql) throws SQLException {
		try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	@ParameterizedTest
	@CsvSource({ "25006, 0, MUST_EVICT", "HY000, 1290, MUST_EVICT", "HY000, 1836, MUST_EVICT",
			"40001, 1213, CONTINUE_EVICT" })
	void theErrorsOfReplicasAreKnown(String state, int code, Override decision) {
		try (HikariDataSource application = h2(); LockPools pools = new LockPools(application, 1)) {
			assertThat(decision(pools, state, code)).isEqualTo(decision);
		}
	}

	@Test
	void theApplicationDecidesFirst() {
		try (HikariDataSource application = h2()) {
			application.setExceptionOverride(new SQLExceptionOverride() {
				@java.lang.Override
				public Override adjudicate(SQLException ex) {
					return (ex.getErrorCode() == 1290) ? Override.DO_NOT_EVICT : Override.CONTINUE_EVICT;
				}
			});
			try (LockPools pools = new LockPools(application, 1)) {
				assertThat(decision(pools, "HY000", 1290)).isEqualTo(Override.DO_NOT_EVICT);
				assertThat(decision(pools, "25006", 0)).isEqualTo(Override.MUST_EVICT);
			}
		}
	}

	private static Override decision(LockPools pools, String state, int code) {
		return ((HikariDataSource) pools.owned()).getExceptionOverride().adjudicate(new SQLException("", state, code));
	}

	private static HikariDataSource h2() {
		HikariDataSource application = new HikariDataSource();
		application.setJdbcUrl("jdbc:h2:mem:pools");
		return application;
	}

}
