// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

/**
 * The contract on PostgreSQL, with its messages, and with grants that do not wait for the
 * disk.
 */
class PostgresLockStoreTests extends AbstractJdbcLockStoreTests {

	PostgresLockStoreTests() {
		super(TestDatabase.POSTGRESQL, TestDatabase.withoutDurableGrants());
	}

}
