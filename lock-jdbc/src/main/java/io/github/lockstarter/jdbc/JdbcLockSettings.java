// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;

import io.github.lockstarter.store.Rule;

/**
 * The settings of a {@link JdbcLockStore}.
 *
 * @param table the name of the table; may begin with a schema and a dot
 * @param queryTimeout how long a statement may take; rounded up to seconds
 * @param durableGrants whether PostgreSQL answers only after a grant was written to disk,
 * even if transactions of the application do not wait for that. If not, acquiring takes a
 * fraction of the time, but a crash of the server can forget the grants and renewals of
 * its last moments, up to 0.6 seconds, and then grant the same locks again. Fencing
 * tokens keep growing, and a transaction on the same server that has survived the crash
 * proves that the grant before it has survived, too. Releases never wait for the disk
 * @param notifications whether a JVM that waits for a lock is notified by {@code LISTEN}
 * and {@code NOTIFY} where the database has them. If not, and in all other databases, one
 * query per JVM looks after all locks that the JVM waits for
 * @param minPollInterval the interval of this query after it has found something
 * @param maxPollInterval the interval of this query after it has found nothing for a
 * while
 * @param fenceRetention how long the row of an idle lock is kept, so that fencing tokens
 * grow even if the clock of the database is set back; must be longer than any lease
 */
public record JdbcLockSettings(String table, Duration queryTimeout, boolean durableGrants, boolean notifications,
		Duration minPollInterval, Duration maxPollInterval, Duration fenceRetention) {

	/**
	 * Defaults that suit most applications.
	 */
	public static final JdbcLockSettings DEFAULTS = new JdbcLockSettings("distributed_lock", Duration.ofSeconds(2),
			true, true, Duration.ofMillis(25), Duration.ofMillis(100), Duration.ofHours(24));

	/**
	 * @throws IllegalArgumentException if the name contains anything other than letters,
	 * digits, {@code _} and {@code $}, and a dot after a schema, or if a duration is not
	 * positive
	 */
	public JdbcLockSettings {
		Rule.TABLE.require("table", table);
		Rule.POSITIVE.require("queryTimeout", queryTimeout);
		Rule.POSITIVE.require("minPollInterval", minPollInterval);
		Rule.POSITIVE.require("maxPollInterval", maxPollInterval);
		Rule.POSITIVE.require("fenceRetention", fenceRetention);
		if (minPollInterval.compareTo(maxPollInterval) > 0) {
			throw new IllegalArgumentException("'minPollInterval' must not be longer than 'maxPollInterval', but "
					+ minPollInterval + " is longer than " + maxPollInterval);
		}
	}

}
