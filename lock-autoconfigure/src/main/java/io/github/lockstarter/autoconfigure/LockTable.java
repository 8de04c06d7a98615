// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.sql.SQLException;
import java.util.Map;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ResourceLoader;

import io.github.lockstarter.transaction.FenceTable;
import io.github.lockstarter.jdbc.JdbcLockSchema;
import io.github.lockstarter.store.DatabaseAddress;
import io.github.lockstarter.store.FailureReason;
import io.github.lockstarter.store.UnusableStoreException;

/**
 * The table of the locks: creates it if asked to, and ends the start if it cannot keep
 * locks.
 *
 * @param properties how it is called, and when and how to create it
 * @param fences the name of the table of fenced transactions, which the script creates
 * with it
 * @param dataSource the connections to its database
 * @param resourceLoader finds the script
 */
record LockTable(JdbcLockProperties properties, String fences, DataSource dataSource, ResourceLoader resourceLoader) {

	private static final Log logger = LogFactory.getLog(LockTable.class);

	/**
	 * Make sure that the table can keep locks, as far as the database can be asked.
	 * @throws LockStoreNotFoundException if it cannot, or has to be created and cannot be
	 */
	void require() {
		String name = this.properties.table();
		TableScript script = new TableScript(this.properties.schema(), this.properties.platform(),
				JdbcLockSchema::platform, Map.of(JdbcLockSchema.TABLE, name, FenceTable.DEFAULT_NAME, this.fences),
				this.resourceLoader);
		try {
			TableScript.Problem<UnusableStoreException> problem = script.prepare(this.dataSource,
					() -> TableScript.isWanted(this.properties.initializeSchema(), this.dataSource),
					() -> JdbcLockSchema.requireTable(this.dataSource, name), UnusableStoreException.class);
			if (problem != null) {
				throw unusable(problem.table(), problem.script());
			}
		}
		catch (SQLException ex) {
			unknown(name, ex);
		}
	}

	private LockStoreNotFoundException unusable(UnusableStoreException problem, @Nullable Exception failure)
			throws SQLException {
		String database = "The database of the locks is '" + DatabaseAddress.of(DatabaseAddress.urlOf(this.dataSource))
				+ "'. " + problem.getMessage();
		if (failure != null) {
			return new LockStoreNotFoundException(
					database + ". The script that should create the table failed (" + FailureReason.of(failure) + ")",
					"choose the script of your database with distributed-lock.jdbc.platform (h2, mariadb, mysql,"
							+ " postgresql or generic), name a script of your own in distributed-lock.jdbc.schema,"
							+ " grant the user create, or create the table with a migration");
		}
		String remedy = "create the table, or alter it, as the script for your database says, which is in"
				+ " io/github/lockstarter/jdbc of lock-jdbc, and grant the user select, insert, update and delete on it";
		return new LockStoreNotFoundException(database,
				(this.properties.initializeSchema() == JdbcLockProperties.SchemaInitialization.ALWAYS) ? remedy : remedy
						+ "; or set distributed-lock.jdbc.initialize-schema=always to let the start create it");
	}

	private void unknown(String name, SQLException reason) {
		String address = (this.dataSource instanceof HikariDataSource pool) ? DatabaseAddress.of(pool.getJdbcUrl())
				: "";
		String unknown = "The database of the locks" + (address.isEmpty() ? "" : " '" + address + "'")
				+ " cannot be asked (" + FailureReason.of(reason) + ")";
		if (this.properties.initializeSchema() == JdbcLockProperties.SchemaInitialization.ALWAYS) {
			throw new LockStoreNotFoundException(unknown + ", so the table '" + name + "' cannot be created",
					"correct the address, the username and the password of the database, start the database first, or"
							+ " remove distributed-lock.jdbc.initialize-schema=always and create the table with a"
							+ " migration");
		}
		logger.warn(unknown + ". No lock is granted until it can be, and has the table '" + name + "'");
	}

}
