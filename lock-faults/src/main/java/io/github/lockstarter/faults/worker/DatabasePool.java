// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import com.zaxxer.hikari.HikariDataSource;

/**
 * A pool of connections as Spring Boot gives it to the locks: small, and quick to refuse.
 */
final class DatabasePool {

	private DatabasePool() {
	}

	static HikariDataSource to(ServerAddress address, int size) {
		return to(address.nodes().get(0), size);
	}

	static HikariDataSource to(String url, int size) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setMaximumPoolSize(size);
		pool.setMinimumIdle(0);
		pool.setConnectionTimeout(2000);
		pool.setValidationTimeout(1000);
		pool.setInitializationFailTimeout(-1);
		pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		return pool;
	}

}
