// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Duration;
import java.util.List;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class DatabaseEncodingTests {

	@Test
	void aKeyThatTheDatabaseCannotStoreIsInvalid() {
		JdbcTemplate jdbc = TestDatabase.POSTGRESQL.jdbc();
		String database = jdbc.queryForObject("select current_database()", String.class);
		jdbc.execute("create database " + database + "_latin1 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'"
				+ " template template0");
		String url = TestDatabase.POSTGRESQL.url().replace("/" + database, "/" + database + "_latin1");
		TestDatabase.createTable(url);
		DataSource dataSource = new DriverManagerDataSource(url);
		try (JdbcLockStore store = new JdbcLockStore(dataSource, TestDatabase.SETTINGS);
				DefaultLockRegistry registry = new DefaultLockRegistry(store, EngineSettings.DEFAULTS,
						LockListener.NO_OP)) {
			assertThatIllegalArgumentException().isThrownBy(() -> registry.acquire(LockRequest.of("stock", "茶")))
				.withMessageStartingWith("The store cannot keep lock 'stock:茶': ")
				.withMessageContaining("UTF8");
			assertThatIllegalArgumentException().isThrownBy(
					() -> registry.acquireAll(List.of(LockRequest.of("stock", "thé"), LockRequest.of("stock", "茶"))))
				.withMessageStartingWith("The store cannot keep lock 'stock:茶': ");
			try (Lease lease = registry.acquire(LockRequest.of("stock", "thé"))) {
				assertThat(lease.isHeld()).isTrue();
			}
		}
	}

}
