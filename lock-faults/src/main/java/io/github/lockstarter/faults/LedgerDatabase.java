// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.servers.SharedServers;

/**
 * Where the transactions that the locks protect have their {@code Ledger}.
 */
enum LedgerDatabase {

	/** A PostgreSQL server that no fault affects. */
	POSTGRESQL,

	/** A MariaDB server that no fault affects. */
	MARIADB,

	/** The database that keeps the locks, with all its faults. */
	OF_LOCKS;

	/**
	 * Return the JDBC URL of a new database, or {@code null} if it is the one that keeps
	 * the locks.
	 */
	@Nullable String create() {
		return switch (this) {
			case POSTGRESQL -> SharedServers.postgres();
			case MARIADB -> SharedServers.mariaDb();
			case OF_LOCKS -> null;
		};
	}

}
