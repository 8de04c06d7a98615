// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults;

/**
 * Where the transactions that the locks protect have their {@code Ledger}.
 */
enum LedgerDatabase {

	/** A PostgreSQL server that no fault affects. */
	POSTGRESQL,

	/** A MariaDB server that no fault affects. */
	MARIADB,

	/** The database that keeps the locks, with all its faults. */
	OF_LOCKS

}
