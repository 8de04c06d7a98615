// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockStoreTests;

/**
 * The contract on H2.
 */
class H2LockStoreTests extends AbstractLockStoreTests {

	private static HikariDataSource pool;

	@BeforeAll
	static void openPool() {
		pool = TestDatabase.H2.pool(60);
	}

	@AfterAll
	static void closePool() {
		pool.close();
	}

	@Override
	protected LockStore createStore() {
		return new JdbcLockStore(pool, TestDatabase.PATIENT);
	}

}
