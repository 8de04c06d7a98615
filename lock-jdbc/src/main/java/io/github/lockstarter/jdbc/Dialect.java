// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLDataException;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.UnusableStoreException;

/**
 * How databases tell the time. The locks need microseconds since 1970 as a number,
 * because every other type depends on a time zone somewhere.
 */
enum Dialect {

	/**
	 * The time of the statement, not of its transaction, which may have begun earlier.
	 */
	POSTGRESQL("postgresql", "cast(extract(epoch from clock_timestamp()) * 1000000 as bigint)"),

	/** Local times are ambiguous for an hour each year. */
	MYSQL("mysql", "timestampdiff(microsecond, '1970-01-01 00:00:00', utc_timestamp(6))"),

	MARIADB("mariadb", MYSQL.micros),

	H2("h2", "cast(extract(epoch from current_timestamp(6)) * 1000000 as bigint)"),

	/** Standard SQL cannot convert the time, so the driver does it if it has its zone. */
	GENERIC("generic", null);

	private static final Set<String> ZONED_TYPES = Set.of("time zone", "timestamptz", "datetimeoffset");

	private final String platform;

	private final @Nullable String micros;

	Dialect(String platform, @Nullable String micros) {
		this.platform = platform;
		this.micros = micros;
	}

	static Dialect of(Connection connection) throws SQLException {
		return switch (connection.getMetaData().getDatabaseProductName()) {
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
	 * Return whether statements can compute with the time.
	 */
	boolean computesTime() {
		return this.micros != null;
	}

	/**
	 * Return whether the database may lock all rows of a table to find few of them.
	 */
	boolean scansTables() {
		return this == MYSQL || this == MARIADB;
	}

	/**
	 * Return whether a query can leave out rows that other transactions have locked.
	 */
	boolean skipsLocked(DatabaseMetaData database) throws SQLException {
		int version = database.getDatabaseMajorVersion() * 1000 + database.getDatabaseMinorVersion();
		return switch (this) {
			case POSTGRESQL -> version >= 9005;
			case MYSQL -> version >= 8000;
			case MARIADB -> version >= 10006;
			case H2 -> version >= 2002;
			case GENERIC -> false;
		};
	}

	/**
	 * Return an expression of a value that a changed row gets, and that a statement
	 * reports: MySQL and MariaDB report it as if they had generated it.
	 */
	String reported(String value) {
		return scansTables() ? "last_insert_id(" + value + ")" : value;
	}

	/**
	 * Return a statement that changes a row and reports its new value in a column.
	 */
	String reporting(String column, String change) {
		return (this == H2) ? "select " + column + " from final table (" + change + ")" : change;
	}

	/**
	 * Return the end of a query for a limited number of rows.
	 */
	String limit(int rows) {
		return scansTables() ? "limit " + rows : "offset 0 rows fetch next " + rows + " rows only";
	}

	/**
	 * Return the SQL expression of the time.
	 */
	String clock() {
		return (this.micros != null) ? this.micros : "current_timestamp";
	}

	/**
	 * Return the time in microseconds since 1970 from a column with the {@link #clock()}.
	 */
	long readClock(ResultSet row, int column) throws SQLException {
		if (this.micros != null) {
			return row.getLong(column);
		}
		String type = row.getMetaData().getColumnTypeName(column).toLowerCase(Locale.ROOT);
		if (ZONED_TYPES.stream().noneMatch(type::contains)) {
			throw new UnusableStoreException("The database tells the time without a time zone, so locks would expire"
					+ " wrongly when clocks change: use another store", new SQLDataException("Type " + type));
		}
		return ChronoUnit.MICROS.between(Instant.EPOCH, row.getObject(column, OffsetDateTime.class).toInstant());
	}

}
