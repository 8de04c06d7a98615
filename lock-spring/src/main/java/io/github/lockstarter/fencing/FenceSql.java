// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.fencing;

import org.jspecify.annotations.Nullable;

/**
 * The statements of the table of claims. Parameters of a claim, in this order: key of the
 * lock, fencing token.
 *
 * @param table the name of the table
 * @param dialect the database
 */
record FenceSql(String table, FenceDialect dialect) {

	/**
	 * Claim a token unless a larger one is claimed.
	 * @return the statement, or {@code null} if it takes an {@link #update} and an
	 * {@link #insert}
	 */
	@Nullable String claim() {
		return switch (this.dialect) {
			case POSTGRESQL -> insert()
					+ " on conflict (lock_key) do update set token = excluded.token, claimed_at = excluded.claimed_at where "
					+ this.table + ".token <= excluded.token";
			case MARIADB -> claimInPlace() + " returning token";
			case MYSQL -> claimInPlace();
			case H2, GENERIC -> null;
		};
	}

	private String claimInPlace() {
		return insert() + " on duplicate key update"
				+ " claimed_at = if(token <= values(token), values(claimed_at), claimed_at),"
				+ " token = greatest(token, values(token))";
	}

	/**
	 * Return whether a {@link #claim} reports the token that is claimed afterwards.
	 */
	boolean reportsToken() {
		return this.dialect == FenceDialect.MARIADB;
	}

	/**
	 * Return whether the number of changed rows tells whether a {@link #claim} succeeded.
	 */
	boolean countsClaims() {
		return this.dialect == FenceDialect.POSTGRESQL;
	}

	/**
	 * Create a row. Fails if it exists.
	 */
	String insert() {
		return "insert into " + this.table + " (lock_key, token, claimed_at) values (?, ?, " + this.dialect.clock()
				+ ")";
	}

	/**
	 * Claim a token in a row that exists. Parameters: token, key, token.
	 */
	String update() {
		return "update " + this.table + " set token = ?, claimed_at = " + this.dialect.clock()
				+ " where lock_key = ? and token <= ?";
	}

	/**
	 * Read the claimed token, and lock its row against other claims. Parameter: key.
	 */
	String selectForUpdate() {
		return "select token from " + this.table + " where lock_key = ? for update";
	}

	/**
	 * Find idle rows. Parameter: how long they are idle at least, in milliseconds.
	 */
	String selectIdle() {
		return "select lock_key, claimed_at from " + this.table + " where claimed_at < " + this.dialect.clock()
				+ " - ?";
	}

	/**
	 * Delete an idle row unless it was claimed meanwhile. Parameters: key, time.
	 */
	String deleteIdle() {
		return "delete from " + this.table + " where lock_key = ? and claimed_at = ?";
	}

}
