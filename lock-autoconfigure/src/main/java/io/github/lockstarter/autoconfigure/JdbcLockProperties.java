// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;

import org.springframework.boot.context.properties.bind.DefaultValue;

import io.github.lockstarter.store.Rule;

/**
 * Settings of the JDBC store.
 *
 * @param poolSize Largest number of connections that acquire locks, separate from those
 * of the application. At least 2. Half as many, at least 2, are added to renew and
 * release them.
 * @param initializeSchema When to create the table of the locks, and the one of fenced
 * transactions with it: embedded for in-memory databases only.
 * @param schema Location of the script that creates the table.
 * @param platform Platform in the location of the script; auto asks the database.
 * @param table Name of the table; may begin with a schema and a dot.
 * @param queryTimeout Longest time that a statement may take.
 * @param durableGrants Whether PostgreSQL answers only after a grant was written to disk.
 * @param notifications Whether waiting instances are notified by LISTEN and NOTIFY on
 * PostgreSQL.
 * @param minPollInterval Interval of the query for released locks after it has found one.
 * @param maxPollInterval Interval of the query for released locks after it has found none
 * for a while.
 * @param fenceRetention How long the last fencing token of an idle lock is kept. At least
 * the lease time.
 */
public record JdbcLockProperties(@DefaultValue("8") int poolSize,
		@DefaultValue("embedded") SchemaInitialization initializeSchema, @DefaultValue(DEFAULT_SCHEMA) String schema,
		@DefaultValue(PropertyChecks.AUTO) String platform, @DefaultValue("distributed_lock") String table,
		@DefaultValue("2s") Duration queryTimeout, @DefaultValue("true") boolean durableGrants,
		@DefaultValue("true") boolean notifications, @DefaultValue("25ms") Duration minPollInterval,
		@DefaultValue("100ms") Duration maxPollInterval, @DefaultValue("24h") Duration fenceRetention) {

	private static final String DEFAULT_SCHEMA = "classpath:io/github/lockstarter/jdbc/schema-@@platform@@.sql";

	public JdbcLockProperties {
		PropertyChecks.require(poolSize >= 2, "jdbc.pool-size", poolSize,
				"It has to be at least 2, one of them for messages.");
		PropertyChecks.require("jdbc.table", table, Rule.TABLE);
		PropertyChecks.require("jdbc.query-timeout", queryTimeout, Rule.POSITIVE);
		PropertyChecks.require("jdbc.min-poll-interval", minPollInterval, Rule.POSITIVE);
		PropertyChecks.require(maxPollInterval.compareTo(minPollInterval) >= 0, "jdbc.max-poll-interval",
				maxPollInterval, "It must not be shorter than 'distributed-lock.jdbc.min-poll-interval', which is "
						+ minPollInterval + ".");
	}

	/**
	 * When the table of the locks is created.
	 */
	public enum SchemaInitialization {

		/**
		 * At each start, if it does not exist.
		 */
		ALWAYS,

		/**
		 * At the start, in an embedded database.
		 */
		EMBEDDED,

		/**
		 * Never.
		 */
		NEVER

	}

}
