// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import java.sql.Connection;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

/**
 * How databases tell the time, and write a claim in one statement that neither fails nor
 * deadlocks if the row does not exist yet.
 */
enum FenceDialect {

	POSTGRESQL("postgresql", "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)"),

	MYSQL("mysql", "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6)) div 1000"),

	MARIADB("mariadb", MYSQL.millis),

	H2("h2", "cast(extract(epoch from current_timestamp(3)) * 1000 as bigint)"),

	/** Standard SQL has no such statement, so it takes several. */
	GENERIC("generic", null);

	private final String platform;

	private final @Nullable String millis;

	FenceDialect(String platform, @Nullable String millis) {
		this.platform = platform;
		this.millis = millis;
	}

	static FenceDialect of(Connection connection) throws SQLException {
		return of(connection.getMetaData().getDatabaseProductName());
	}

	static FenceDialect of(String product) {
		return switch (product) {
			case "PostgreSQL" -> POSTGRESQL;
			case "MySQL" -> MYSQL;
			case "MariaDB" -> MARIADB;
			case "H2" -> H2;
			default -> GENERIC;
		};
	}

	String platform() {
		return this.platform;
	}

	/**
	 * Return an expression of the time in milliseconds since 1970: that of the database,
	 * because the clocks of JVMs may differ, or where the dialect is unknown, that of
	 * this JVM.
	 */
	String clock() {
		return (this.millis != null) ? this.millis : String.valueOf(System.currentTimeMillis());
	}

}
