// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import org.junit.jupiter.api.Order;

/**
 * The contract on H2.
 */
@Order(1)
class H2LockStoreTests extends AbstractJdbcLockStoreTests {

	H2LockStoreTests() {
		super(TestDatabase.H2, TestDatabase.SETTINGS);
	}

}
