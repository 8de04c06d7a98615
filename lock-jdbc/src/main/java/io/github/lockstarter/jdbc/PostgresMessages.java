// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import io.github.lockstarter.store.OwnerToken;

/**
 * The connection on which PostgreSQL notifies this JVM.
 */
final class PostgresMessages implements AutoCloseable {

	private static final Log logger = LogFactory.getLog(PostgresMessages.class);

	/** Names no lock. */
	private static final String NOTHING = "";

	private static final long CHECK_INTERVAL_MILLIS = 5000;

	private static final int CHECK_TIMEOUT_SECONDS = 2;

	/** Between two looks at something else during a test. */
	private static final long LOOK_MILLIS = 25;

	private final LockDatabase database;

	private final String jvm;

	private final Connection connection;

	private final PGConnection driver;

	private final boolean autoCommitBefore;

	private final int silenceBefore;

	private volatile boolean ended;

	private PostgresMessages(LockDatabase database, String jvm, Connection connection) throws SQLException {
		this.database = database;
		this.jvm = jvm;
		this.connection = connection;
		this.driver = connection.unwrap(PGConnection.class);
		this.autoCommitBefore = connection.getAutoCommit();
		this.silenceBefore = database.limitSilence(connection);
	}

	/**
	 * Open the connection and listen.
	 * @return {@code null} if the database has no such messages
	 */
	static @Nullable PostgresMessages open(LockDatabase database, String jvm) throws SQLException {
		Connection connection = database.open();
		try {
			if (database.sql(connection).dialect() == Dialect.POSTGRESQL
					&& connection.isWrapperFor(PGConnection.class)) {
				PostgresMessages messages = new PostgresMessages(database, jvm, connection);
				messages.listen();
				return messages;
			}
		}
		catch (SQLException | RuntimeException ex) {
			connection.close();
			throw ex;
		}
		connection.close();
		return null;
	}

	private void listen() throws SQLException {
		if (!this.autoCommitBefore) {
			this.connection.setAutoCommit(true);
		}
		execute("listen \"" + PostgresChannel.of(this.jvm) + '"');
	}

	/**
	 * Return whether a message from another connection arrives. A proxy that pools
	 * transactions may pass the connection to the server on to somebody else.
	 * @param limit how long the message may take
	 * @param meanwhile called now and then; other messages that come first are dropped
	 */
	boolean arrive(Duration limit, Runnable meanwhile) throws SQLException {
		// A pooled connection may still have the messages of an earlier test
		String test = OwnerToken.randomId();
		this.database.autocommit((session, sql) -> {
			PostgresChannel.send(session, this.jvm, test);
			return true;
		});
		long end = System.nanoTime() + limit.toNanos();
		// The last look comes after everything else that took time
		for (long left = limit.toMillis();; left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())) {
			if (read(Math.max(1, Math.min(left, LOOK_MILLIS))).contains(test)) {
				return true;
			}
			if (left <= 0) {
				return false;
			}
			meanwhile.run();
		}
	}

	/**
	 * Wait for messages.
	 * @param nanos how long to wait at most
	 * @return the messages; may be empty
	 */
	List<String> next(long nanos) throws SQLException {
		List<String> messages = read(
				Math.max(1, Math.min(TimeUnit.NANOSECONDS.toMillis(nanos), CHECK_INTERVAL_MILLIS)));
		if (!messages.isEmpty()) {
			return messages;
		}
		// After a failover, the connection may live on where nobody sends any more
		boolean sent = wake();
		messages = read(sent ? TimeUnit.SECONDS.toMillis(CHECK_TIMEOUT_SECONDS) : 1);
		if (messages.isEmpty() && (sent || !this.connection.isValid(CHECK_TIMEOUT_SECONDS))) {
			throw new SQLNonTransientConnectionException("The connection for messages is lost");
		}
		return messages;
	}

	private List<String> read(long millis) throws SQLException {
		return messages(this.driver.getNotifications((int) millis));
	}

	private List<String> messages(PGNotification @Nullable [] notifications) {
		if (notifications == null) {
			return List.of();
		}
		String channel = PostgresChannel.of(this.jvm);
		return Arrays.stream(notifications)
			.filter((notification) -> notification.getName().equals(channel))
			.map(PGNotification::getParameter)
			.toList();
	}

	private void execute(String sql) throws SQLException {
		try (Statement statement = this.connection.createStatement()) {
			statement.execute(sql);
		}
	}

	/**
	 * Stop listening, and give the connection back as it was.
	 */
	void end() throws SQLException {
		execute("unlisten *");
		LockDatabase.restore(this.connection, this.autoCommitBefore, this.silenceBefore);
		this.ended = true;
		this.connection.close();
	}

	/**
	 * Let a thread that waits for messages go on.
	 * @return whether it will, as far as that is known
	 */
	boolean wake() {
		if (this.ended) {
			return false;
		}
		try {
			return this.database.autocommit((session, sql) -> {
				PostgresChannel.send(session, this.jvm, NOTHING);
				return true;
			});
		}
		catch (RuntimeException ex) {
			logger.trace("The thread that waits for messages cannot be woken", ex);
			return false;
		}
	}

	/**
	 * Close the connection also while another thread reads from it.
	 */
	@Override
	public void close() {
		if (this.ended) {
			return;
		}
		try {
			this.connection.abort(Runnable::run);
			try {
				// A pool has to notice that the connection is broken
				this.connection.getAutoCommit();
			}
			finally {
				this.connection.close();
			}
		}
		catch (SQLException ex) {
			logger.trace("The connection for messages is closed", ex);
		}
	}

}
