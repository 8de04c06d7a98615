// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.faults.worker;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The resource that the locks protect: two counters for each key in a database,
 * incremented by reading and writing. The guarded counter checks fencing tokens: an owner
 * claims the row first, and can write to it only until a later owner claims it.
 */
public final class Counters implements AutoCloseable {

	private final Connection connection;

	public Counters(String url) throws SQLException {
		this.connection = DriverManager.getConnection(url);
	}

	public void createTable() throws SQLException {
		execute("create table if not exists counter"
				+ " (id varchar primary key, guarded bigint default 0, fence bigint default 0, plain bigint"
				+ " default 0)");
	}

	public void create(String key) throws SQLException {
		update("insert into counter (id) values (?)", key);
	}

	/**
	 * Claim the guarded counter of a key, unless a later owner has claimed it.
	 * @return whether it was claimed
	 */
	boolean claim(String key, long token) throws SQLException {
		return update("update counter set fence = ? where id = ? and fence < ?", token, key, token) == 1;
	}

	/**
	 * Write to the guarded counter.
	 * @return whether it was still claimed by this owner
	 */
	boolean writeGuarded(String key, long token, long value) throws SQLException {
		return update("update counter set guarded = ? where id = ? and fence = ?", value, key, token) == 1;
	}

	void writePlain(String key, long value) throws SQLException {
		update("update counter set plain = ? where id = ?", value, key);
	}

	/**
	 * Return the value of the guarded counter.
	 */
	public long readGuarded(String key) throws SQLException {
		return read("select guarded from counter where id = ?", key);
	}

	/**
	 * Return the value of the unprotected counter.
	 */
	public long readPlain(String key) throws SQLException {
		return read("select plain from counter where id = ?", key);
	}

	private void execute(String sql) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(sql)) {
			statement.execute();
		}
	}

	private int update(String sql, Object... parameters) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(sql)) {
			for (int i = 0; i < parameters.length; i++) {
				statement.setObject(i + 1, parameters[i]);
			}
			return statement.executeUpdate();
		}
	}

	private long read(String sql, String key) throws SQLException {
		try (PreparedStatement statement = this.connection.prepareStatement(sql)) {
			statement.setString(1, key);
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				return row.getLong(1);
			}
		}
	}

	@Override
	public void close() throws SQLException {
		this.connection.close();
	}

}
