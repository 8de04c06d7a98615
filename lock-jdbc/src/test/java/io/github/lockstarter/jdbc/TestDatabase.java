// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.net.URI;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;

import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.io.Resource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.store.RowKey;

/**
 * A real database with the table of the locks, for the tests of this JVM.
 */
enum TestDatabase {

	POSTGRESQL(SharedServers::postgres,
			"select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"),

	MARIADB(SharedServers::mariaDb,
			"select count(*) from information_schema.processlist where db = database() and time_ms > 100"
					+ " and command in ('Query', 'Execute') and id <> connection_id()"),

	H2(() -> "jdbc:h2:mem:locks;DB_CLOSE_DELAY=-1",
			"select count(*) from information_schema.sessions where blocker_id is not null");

	/** A machine that stands still must not end a statement. */
	static final JdbcLockSettings SETTINGS = withQueryTimeout(Duration.ofSeconds(20));

	private final Supplier<String> database;

	private final String waits;

	private @Nullable String url;

	TestDatabase(Supplier<String> database, String waits) {
		this.database = database;
		this.waits = waits;
	}

	synchronized String url() {
		if (this.url == null) {
			String url = this.database.get();
			createTable(url);
			this.url = url;
		}
		return this.url;
	}

	static void createTable(String url) {
		DataSource dataSource = new DriverManagerDataSource(url);
		try {
			Resource script = new DefaultResourceLoader().getResource(JdbcLockSchema.location(dataSource));
			DatabasePopulatorUtils.execute(new ResourceDatabasePopulator(script), dataSource);
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Return a source that opens a connection for each request.
	 */
	DataSource unpooled() {
		return new DriverManagerDataSource(url());
	}

	HikariDataSource pool(int size) {
		return pool(url(), size);
	}

	static HikariDataSource pool(String url, int size) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setMaximumPoolSize(size);
		pool.setMinimumIdle(0);
		// Else the first caller waits for the server, however long that takes
		pool.setInitializationFailTimeout(-1);
		pool.setConnectionTimeout(30_000);
		return pool;
	}

	JdbcTemplate jdbc() {
		return new JdbcTemplate(unpooled());
	}

	/**
	 * Let the exclusive lease of a lock end.
	 */
	void expire(LockKey key) {
		int rows = jdbc().update("update distributed_lock set expires_at = 0 where lock_key = ?", RowKey.of(key));
		if (rows != 1) {
			throw new IllegalStateException("There is no lease of " + key);
		}
	}

	long expiresAt(LockKey key) {
		return Objects.requireNonNull(jdbc()
			.queryForObject("select expires_at from distributed_lock where lock_key = ?", Long.class, RowKey.of(key)));
	}

	/**
	 * Return how many statements wait for a row. MariaDB says soon enough only that they
	 * have not ended for a while.
	 */
	int waitsForRows() {
		return Objects.requireNonNull(jdbc().queryForObject(this.waits, Integer.class));
	}

	/**
	 * Lock the row of a lock in a transaction of another program.
	 */
	static void lockRow(Connection transaction, LockKey key) throws SQLException {
		Boolean locked = new SqlSession(transaction, 20)
			.first("select 1 from distributed_lock where lock_key = ? for update", (row) -> true, RowKey.of(key));
		if (locked == null) {
			throw new IllegalStateException("There is no row of " + key);
		}
	}

	static JdbcLockSettings withoutNotifications() {
		return new JdbcLockSettings(SETTINGS.table(), SETTINGS.queryTimeout(), SETTINGS.durableGrants(), false,
				SETTINGS.minPollInterval(), SETTINGS.maxPollInterval(), SETTINGS.fenceRetention());
	}

	static JdbcLockSettings withoutDurableGrants() {
		return new JdbcLockSettings(SETTINGS.table(), SETTINGS.queryTimeout(), false, SETTINGS.notifications(),
				SETTINGS.minPollInterval(), SETTINGS.maxPollInterval(), SETTINGS.fenceRetention());
	}

	static JdbcLockSettings withQueryTimeout(Duration queryTimeout) {
		JdbcLockSettings defaults = JdbcLockSettings.DEFAULTS;
		return new JdbcLockSettings(defaults.table(), queryTimeout, defaults.durableGrants(), defaults.notifications(),
				defaults.minPollInterval(), defaults.maxPollInterval(), defaults.fenceRetention());
	}

	static JdbcLockSettings withFenceRetention(Duration fenceRetention) {
		return new JdbcLockSettings(SETTINGS.table(), SETTINGS.queryTimeout(), SETTINGS.durableGrants(),
				SETTINGS.notifications(), SETTINGS.minPollInterval(), SETTINGS.maxPollInterval(), fenceRetention);
	}

}
