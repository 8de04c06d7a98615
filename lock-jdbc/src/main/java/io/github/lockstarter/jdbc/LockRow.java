// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.store.RowKey;

/**
 * The columns of a row that change. The row has the {@link RowKey} of its lock, and all
 * times are microseconds since 1970 by the clock of the database.
 *
 * @param owner the exclusive owner, {@value #SHARED}, or {@code null}
 * @param expiresAt when the last lease of these ends
 * @param fence the fencing base of the last grant
 * @param line readers with the end of their leases, and places; {@code null} if there are
 * none
 * @param toldAt when a waiter was told the last time that it is its turn
 */
record LockRow(@Nullable String owner, long expiresAt, long fence, @Nullable String line, long toldAt) {

	/** The owner while readers share the lock; no owner token is that short. */
	static final String SHARED = "shared";

	static LockRow read(ResultSet row) throws SQLException {
		return new LockRow(row.getString(1), row.getLong(2), row.getLong(3), row.getString(4), row.getLong(5));
	}

	LockRow expiredAt(long now) {
		return new LockRow(this.owner, now, this.fence, this.line, this.toldAt);
	}

}
