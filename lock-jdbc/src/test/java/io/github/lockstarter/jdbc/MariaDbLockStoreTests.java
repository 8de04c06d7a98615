// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

/**
 * The contract on MariaDB.
 */
class MariaDbLockStoreTests extends AbstractJdbcLockStoreTests {

	MariaDbLockStoreTests() {
		super(TestDatabase.MARIADB, TestDatabase.SETTINGS);
	}

}
