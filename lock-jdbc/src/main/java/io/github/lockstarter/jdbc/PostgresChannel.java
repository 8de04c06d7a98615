// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * The channel on which PostgreSQL notifies one JVM. A channel for each lock would notify
 * JVMs that have nothing to do.
 */
final class PostgresChannel {

	private static final String SEND = "select pg_notify(?, ?)";

	private PostgresChannel() {
	}

	/** Names of channels are shorter than the id of a JVM may be. */
	static String of(String jvm) {
		return "lock_" + JvmId.random(jvm);
	}

	/**
	 * Notify a JVM when the transaction commits that it is its turn.
	 * @param toldAt the time of the message; the row says the same
	 */
	static void send(LastStatements statements, String jvm, String rowKey, long toldAt) {
		statements.add(SEND, of(jvm), toldAt + " " + rowKey);
	}

	static void send(SqlSession session, String jvm, String message) throws SQLException {
		session.execute(SEND, of(jvm), message);
	}

	/**
	 * Note that a message was received.
	 * @return the lock, or {@code null} if the message was seen before, or concerns none
	 */
	static @Nullable LockKey see(String message, WaitedLocks waited) {
		int end = message.indexOf(' ');
		return (end > 0) ? waited.see(message.substring(end + 1), Long.parseLong(message.substring(0, end))) : null;
	}

}
