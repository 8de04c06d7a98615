// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockRegistryTests;
import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * Instances that share a database.
 */
class JdbcLockRegistryTests {

	@Nested
	class OnPostgres extends OnDatabase {

		OnPostgres() {
			super(TestDatabase.POSTGRESQL);
		}

	}

	@Nested
	class OnMariaDb extends OnDatabase {

		OnMariaDb() {
			super(TestDatabase.MARIADB);
		}

		@Override
		@Test
		@Tag("clock")
		@FullProfileOnly
		protected void aLeaseIsRenewedWhileItIsHeld() throws Exception {
			super.aLeaseIsRenewedWhileItIsHeld();
		}

	}

	/**
	 * It waits in the same way as MariaDB.
	 */
	@Nested
	@FullProfileOnly
	class OnH2 extends OnDatabase {

		OnH2() {
			super(TestDatabase.H2);
		}

	}

	/**
	 * PostgreSQL without its messages.
	 */
	@Nested
	@FullProfileOnly
	class OnPollingPostgres extends OnDatabase {

		OnPollingPostgres() {
			super(TestDatabase.POSTGRESQL);
		}

		@Override
		protected LockStore createStore() {
			return new JdbcLockStore(this.pool, TestDatabase.withoutNotifications());
		}

	}

	/**
	 * Standard SQL only.
	 */
	@Nested
	@FullProfileOnly
	class OnOtherDatabase extends OnDatabase {

		OnOtherDatabase() {
			super(TestDatabase.H2);
		}

		@Override
		protected LockStore createStore() {
			return new JdbcLockStore(this.pool, TestDatabase.SETTINGS, Dialect.GENERIC);
		}

	}

	abstract static class OnDatabase extends AbstractLockRegistryTests {

		final HikariDataSource pool;

		OnDatabase(TestDatabase database) {
			this.pool = database.pool(20);
		}

		@Override
		protected LockStore createStore() {
			return new JdbcLockStore(this.pool, TestDatabase.SETTINGS);
		}

		@AfterEach
		void closePool() {
			this.pool.close();
		}

	}

}
