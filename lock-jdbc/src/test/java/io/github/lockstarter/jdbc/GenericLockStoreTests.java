// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * The contract with standard SQL only.
 */
@FullProfileOnly
class GenericLockStoreTests extends AbstractJdbcLockStoreTests {

	GenericLockStoreTests() {
		super(TestDatabase.H2, TestDatabase.SETTINGS, Dialect.GENERIC);
	}

}
