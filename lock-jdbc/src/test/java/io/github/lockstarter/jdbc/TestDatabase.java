// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.net.URI;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.io.Resource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.RowKey;
import io.github.lockstarter.testsupport.EmbeddedMariaDb;
import io.github.lockstarter.testsupport.ServerPort;

/**
 * A real database with the table of the locks. Each is started once per JVM, and stops
 * with it.
 */
enum TestDatabase {

	POSTGRESQL {

		@Override
		String start() throws Exception {
			int port = EmbeddedPostgres.builder()
				.setPort(ServerPort.find())
				.setServerConfig("max_connections", "400")
				.setPGStartupWait(Duration.ofMinutes(3))
				.start()
				.getPort();
			return "jdbc:postgresql://localhost:" + port + "/postgres?user=postgres";
		}

	},

	MARIADB {

		@Override
		String start() throws Exception {
			return "jdbc:mariadb://127.0.0.1:" + EmbeddedMariaDb.start(400).port() + "/test?user=root";
		}

	},

	H2 {

		@Override
		String start() {
			return "jdbc:h2:mem:locks;DB_CLOSE_DELAY=-1";
		}

	};

	static final JdbcLockSettings SETTINGS = JdbcLockSettings.DEFAULTS;

	/** A machine that stands still must not end a statement. */
	static final JdbcLockSettings PATIENT = withQueryTimeout(Duration.ofSeconds(20));

	private static final Map<TestDatabase, String> urls = new ConcurrentHashMap<>();

	abstract String start() throws Exception;

	String url() {
		return urls.computeIfAbsent(this, (database) -> {
			try {
				String url = start();
				createTable(url);
				return url;
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		});
	}

	static void createTable(String url) throws SQLException {
		DataSource dataSource = new DriverManagerDataSource(url);
		Resource script = new DefaultResourceLoader().getResource(JdbcLockSchema.location(dataSource));
		DatabasePopulatorUtils.execute(new ResourceDatabasePopulator(script), dataSource);
	}

	/**
	 * Return a source that opens a connection for each request.
	 */
	DataSource unpooled() {
		return new DriverManagerDataSource(url());
	}

	/**
	 * Return a factory that opens a connection for each request.
	 */
	ConnectionFactory reactive() {
		String url = url();
		return ConnectionFactories.get(switch (this) {
			case POSTGRESQL -> "r2dbc:postgresql://postgres@localhost:" + port(url) + "/postgres";
			case MARIADB -> "r2dbc:mariadb://root@127.0.0.1:" + port(url) + "/test";
			case H2 -> "r2dbc:h2:mem:///locks?options=DB_CLOSE_DELAY=-1";
		});
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
		pool.setConnectionTimeout(5000);
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

	/**
	 * Return how many statements wait for a row.
	 */
	int waitsForRows() {
		String waits = switch (this) {
			case POSTGRESQL -> "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
			case MARIADB -> "select variable_value from information_schema.global_status"
					+ " where variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'";
			case H2 -> "select count(*) from information_schema.sessions where blocker_id is not null";
		};
		return Objects.requireNonNull(jdbc().queryForObject(waits, Integer.class));
	}

	private static int port(String url) {
		return URI.create(url.substring("jdbc:".length())).getPort();
	}

	static JdbcCommitCheck commitCheck(DataSource dataSource) {
		return new JdbcCommitCheck(dataSource, new LockDatabase(dataSource, SETTINGS, null));
	}

	static JdbcLockSettings withoutNotifications() {
		return new JdbcLockSettings(SETTINGS.tablePrefix(), PATIENT.queryTimeout(), SETTINGS.durableGrants(), false,
				SETTINGS.minPollInterval(), SETTINGS.maxPollInterval(), SETTINGS.fenceRetention());
	}

	static JdbcLockSettings withoutDurableGrants() {
		return new JdbcLockSettings(SETTINGS.tablePrefix(), PATIENT.queryTimeout(), false, SETTINGS.notifications(),
				SETTINGS.minPollInterval(), SETTINGS.maxPollInterval(), SETTINGS.fenceRetention());
	}

	static JdbcLockSettings withQueryTimeout(Duration queryTimeout) {
		return new JdbcLockSettings(SETTINGS.tablePrefix(), queryTimeout, SETTINGS.durableGrants(),
				SETTINGS.notifications(), SETTINGS.minPollInterval(), SETTINGS.maxPollInterval(),
				SETTINGS.fenceRetention());
	}

	static JdbcLockSettings withFenceRetention(Duration fenceRetention) {
		return new JdbcLockSettings(SETTINGS.tablePrefix(), SETTINGS.queryTimeout(), SETTINGS.durableGrants(),
				SETTINGS.notifications(), SETTINGS.minPollInterval(), SETTINGS.maxPollInterval(), fenceRetention);
	}

}
