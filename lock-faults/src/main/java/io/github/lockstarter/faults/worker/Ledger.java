// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.sql.SQLException;
import java.util.List;
import java.util.Objects;

import javax.sql.DataSource;

import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.github.lockstarter.transaction.FenceTable;

/**
 * The third counter that the locks protect: an account for each key, changed by
 * transactions that know nothing of locks. Each of them also books the amount that it has
 * read. So whatever has become of a transaction, its booking and its change have the same
 * fate, and what is missing in the account was lost by another transaction.
 */
public final class Ledger {

	private final DataSource database;

	private final JdbcTemplate jdbc;

	public Ledger(String url) {
		this.database = new DriverManagerDataSource(url);
		this.jdbc = new JdbcTemplate(this.database);
	}

	/**
	 * Create the tables of the ledger, and the one that fences transactions.
	 */
	public void createTables() throws SQLException {
		String script = FenceTable.schema(this.database);
		DatabasePopulatorUtils.execute(new ResourceDatabasePopulator(new DefaultResourceLoader().getResource(script)),
				this.database);
		this.jdbc.execute(
				"create table if not exists account (id varchar(64) not null primary key, amount bigint not null)");
		this.jdbc.execute("create table if not exists booking (account varchar(64) not null, amount bigint not null,"
				+ " owner varchar(64) not null, token bigint not null)");
	}

	public void create(String key) {
		this.jdbc.update("insert into account (id, amount) values (?, 0)", key);
	}

	/**
	 * Compare the account of a key with its bookings.
	 */
	public Balance balance(String key) {
		return Objects.requireNonNull(this.jdbc.queryForObject(
				"select (select count(*) from booking where account = id), amount from account where id = ?",
				(row, number) -> new Balance(row.getLong(1), row.getLong(1) - row.getLong(2)), key));
	}

	/**
	 * Return the bookings that have read the same amount as another one.
	 */
	public List<String> twins(String key) {
		return this.jdbc.query(
				"select owner, token, amount from booking where account = ? and amount in"
						+ " (select amount from booking where account = ? group by amount having count(*) > 1)"
						+ " order by amount, token",
				(row, number) -> "%s with token %d has read %d".formatted(row.getString(1), row.getLong(2),
						row.getLong(3)),
				key, key);
	}

	/**
	 * The number of transactions that have committed, and of their updates that were
	 * lost.
	 */
	public record Balance(long committed, long lost) {

		/** Of no transaction. */
		public static final Balance NONE = new Balance(0, 0);

		/**
		 * Return the balance of several accounts.
		 */
		public Balance plus(Balance other) {
			return new Balance(this.committed + other.committed, this.lost + other.lost);
		}

	}

}
