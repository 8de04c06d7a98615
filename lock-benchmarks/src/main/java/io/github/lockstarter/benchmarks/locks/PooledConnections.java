// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.benchmarks.locks;

import com.zaxxer.hikari.HikariDataSource;

import io.github.lockstarter.benchmarks.servers.ServerAddress;

/**
 * The connection pool of a competitor that keeps locks in a database.
 */
final class PooledConnections {

	/** Enough for the threads of every scenario, except those of {@code hot-64}. */
	private static final int PEER = 32;

	/** The default of {@code distributed-lock.jdbc.pool-size}. */
	static final int ACQUIRING = 8;

	/** What the auto-configuration adds to renew and release locks. */
	static final int OWNED = 4;

	private static final long OUR_TIMEOUT_MILLIS = 2000;

	private PooledConnections() {
	}

	static HikariDataSource ofPeer(ServerAddress database) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(database.location());
		pool.setMaximumPoolSize(PEER);
		// Threads beyond the pool wait for a connection as long as for a lock
		pool.setConnectionTimeout(0);
		return pool;
	}

	/**
	 * Return a pool with the settings of the auto-configuration.
	 */
	static HikariDataSource ofOurs(ServerAddress database, int size) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(database.location());
		pool.setMaximumPoolSize(size);
		pool.setMinimumIdle(0);
		pool.setConnectionTimeout(OUR_TIMEOUT_MILLIS);
		pool.setValidationTimeout(OUR_TIMEOUT_MILLIS / 2);
		pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		return pool;
	}

}
