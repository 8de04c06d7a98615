// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Deletes the claims of locks that were idle for so long that no transaction can be late
 * by that much. Runs now and then while tokens are claimed, on a thread that ends with
 * the work.
 */
final class IdleClaims {

	private static final Log logger = LogFactory.getLog(IdleClaims.class);

	private static final Duration SHORTEST_INTERVAL = Duration.ofMinutes(1);

	private static final Duration LONGEST_INTERVAL = Duration.ofHours(1);

	/** So that a large table is not read at once. */
	private static final int PAGE = 1000;

	private final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("lock-cleanup-");

	private final FenceTable table;

	private final Duration retention;

	private final Clock clock;

	private final long intervalMillis;

	private final AtomicLong due;

	IdleClaims(FenceTable table, Duration retention, Clock clock) {
		this.table = table;
		this.retention = retention;
		this.clock = clock;
		this.intervalMillis = Math.min(LONGEST_INTERVAL.toMillis(),
				Math.max(SHORTEST_INTERVAL.toMillis(), retention.toMillis() / 4));
		this.due = new AtomicLong(clock.millis() + SHORTEST_INTERVAL.toMillis());
		this.threads.setDaemon(true);
	}

	/**
	 * Delete idle claims in the background if that was not done for a while. Its thread
	 * could not choose between several databases.
	 */
	void deleteNowAndThen() {
		if (this.table.isRouted()) {
			return;
		}
		long due = this.due.get();
		long now = this.clock.millis();
		if (now >= due && this.due.compareAndSet(due, now + this.intervalMillis)) {
			this.threads.execute(this::tryDelete);
		}
	}

	private void tryDelete() {
		try {
			delete();
		}
		catch (SQLException | RuntimeException ex) {
			logger.warn("Idle claims of fencing tokens could not be deleted from the table '" + this.table.name()
					+ "', which is tried again: " + ex.getMessage());
		}
	}

	void delete() throws SQLException {
		try (Connection connection = this.table.dataSource().getConnection()) {
			FenceSql sql = this.table.sql(connection);
			Map<String, Long> page;
			do {
				page = page(connection, sql, this.retention.toMillis());
				// One at a time: a statement for all would lock others in some databases
				for (Map.Entry<String, Long> each : page.entrySet()) {
					delete(connection, sql, each.getKey(), each.getValue());
				}
			}
			while (page.size() == PAGE);
		}
	}

	private static Map<String, Long> page(Connection connection, FenceSql sql, long idleMillis) throws SQLException {
		Map<String, Long> page = new LinkedHashMap<>();
		try (PreparedStatement statement = connection.prepareStatement(sql.selectIdle())) {
			statement.setMaxRows(PAGE);
			statement.setLong(1, idleMillis);
			try (ResultSet rows = statement.executeQuery()) {
				while (rows.next()) {
					page.put(rows.getString(1), rows.getLong(2));
				}
			}
		}
		end(connection);
		return page;
	}

	private static void delete(Connection connection, FenceSql sql, String key, long claimedAt) throws SQLException {
		try (PreparedStatement statement = connection.prepareStatement(sql.deleteIdle())) {
			statement.setQueryTimeout((int) TimeUnit.MINUTES.toSeconds(1));
			statement.setString(1, key);
			statement.setLong(2, claimedAt);
			statement.executeUpdate();
		}
		end(connection);
	}

	/** Some pools hand out connections without automatic commits. */
	private static void end(Connection connection) throws SQLException {
		if (!connection.getAutoCommit()) {
			connection.commit();
		}
	}

}
