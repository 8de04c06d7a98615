// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * The contract on PostgreSQL without its messages.
 */
@FullProfileOnly
class PollingPostgresLockStoreTests extends AbstractJdbcLockStoreTests {

	PollingPostgresLockStoreTests() {
		super(TestDatabase.POSTGRESQL, TestDatabase.withoutNotifications());
	}

}
