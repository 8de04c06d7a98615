// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;

/**
 * The statements of the locks. {@link LockRow} explains the columns.
 */
final class LockSql {

	/** Fencing bases count from here, in microseconds since 1970. */
	static final long EPOCH = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse("2024-01-01T00:00:00Z"));

	private static final String SKIP_LOCKED = " skip locked";

	private static final String AT_ONCE = " and set_config('synchronous_commit', 'off', true) = 'off'";

	/** All other values wait for the disk as well, and some for replicas. */
	private static final String LASTING = " and (current_setting('synchronous_commit') <> 'off'"
			+ " or set_config('synchronous_commit', 'on', true) = 'on')";

	private final Dialect dialect;

	private final String table;

	private final String clock;

	private final boolean skipsLocked;

	/**
	 * A condition that makes the commit of its statement wait for the disk if leases have
	 * to survive a crash.
	 */
	private final String lasting;

	/** A condition that makes the commit of its statement not wait for the disk. */
	private final String atOnce;

	/**
	 * Create the statements for a database.
	 * @param skipsLocked whether a query can leave out rows that other transactions have
	 * locked
	 */
	LockSql(Dialect dialect, boolean skipsLocked, JdbcLockSettings settings) {
		this.dialect = dialect;
		this.skipsLocked = skipsLocked;
		this.table = settings.table();
		this.clock = dialect.clock();
		boolean postgres = dialect == Dialect.POSTGRESQL;
		this.atOnce = postgres ? AT_ONCE : "";
		this.lasting = (postgres && settings.durableGrants()) ? LASTING : this.atOnce;
	}

	Dialect dialect() {
		return this.dialect;
	}

	boolean skipsLocked() {
		return this.skipsLocked;
	}

	/**
	 * Grant an exclusive lock without a line. Parameters: lock, owner, lease time.
	 * Returns the fencing base; no row if the lock is held or has a line.
	 */
	String upsert() {
		return "insert into " + this.table + " as l (lock_key, owner, expires_at, fence)"
				+ " select cast(? as varchar), cast(? as varchar), " + this.clock + " + cast(? as bigint), "
				+ this.clock + " - " + EPOCH + " where true" + this.lasting + " on conflict (lock_key) do update set"
				+ " fence = case when l.owner = excluded.owner and l.expires_at > " + this.clock
				+ " then l.fence else greatest(l.fence + 1, excluded.fence) end,"
				+ " expires_at = excluded.expires_at, owner = excluded.owner"
				+ " where l.line is null and (l.owner is null or l.expires_at <= " + this.clock
				+ " or l.owner = excluded.owner) returning l.fence";
	}

	/**
	 * Grant an exclusive lock that has a row and no line. Parameters: owner, lease time,
	 * owner, lock, owner. Reports the fencing base. MySQL assigns from left to right, so
	 * the owner comes last.
	 */
	String take() {
		return this.dialect.reporting("fence",
				"update " + this.table + " set fence = "
						+ this.dialect.reported("case when owner = ? and expires_at > " + this.clock
								+ " then fence else greatest(fence + 1, " + this.clock + " - " + EPOCH + ") end")
						+ ", expires_at = " + this.clock
						+ " + ?, owner = ? where lock_key = ? and line is null and (owner is null or expires_at <= "
						+ this.clock + " or owner = ?)");
	}

	/**
	 * Grant an exclusive lock that has no row. Parameters: lock, owner, lease time.
	 * Reports the fencing base.
	 */
	String insertOwned() {
		return this.dialect.reporting("fence",
				"insert into " + this.table + " (lock_key, owner, expires_at, fence) values (?, ?, " + this.clock
						+ " + ?, " + this.dialect.reported("greatest(" + this.clock + " - " + EPOCH + ", 0)") + ")");
	}

	/**
	 * Create the row of a lock that nobody holds. Parameter: lock.
	 */
	String insertFree() {
		return "insert into " + this.table + " (lock_key, expires_at, fence) values (?, 0, 0)"
				+ ((this.dialect == Dialect.POSTGRESQL) ? " on conflict (lock_key) do nothing" : "");
	}

	/**
	 * Release an exclusive lock without a line. Parameters: lock, owner.
	 */
	String release() {
		return "update " + this.table + " set owner = null where lock_key = ? and owner = ? and expires_at > "
				+ this.clock + " and line is null" + this.atOnce;
	}

	/**
	 * Read a row for a {@link LockState}. Parameter: lock.
	 */
	String select() {
		return select(1);
	}

	/**
	 * Read rows for a {@link LockState}, each with its lock. Parameters: locks.
	 */
	String select(int locks) {
		return "select owner, expires_at, fence, line, told_at, " + this.clock + ", lock_key from " + rowsOf(locks);
	}

	/**
	 * Read and lock a row for a {@link LockState}. Parameter: lock.
	 */
	String selectForUpdate() {
		return select() + " for update";
	}

	/**
	 * Read and lock rows for a {@link LockState}, each with its lock, without those that
	 * another transaction has locked if the database can leave them out. Parameters:
	 * locks.
	 */
	String selectUnlocked(int locks) {
		return select(locks) + " for update" + (this.skipsLocked ? SKIP_LOCKED : "");
	}

	/**
	 * Write a row. Parameters: owner, end of the lease, fencing base, line, time of the
	 * last message, lock.
	 * @param leased whether the row has a new lease. If a crash undoes that, a second
	 * owner may get the lock; if it undoes a release, the lock is only blocked until the
	 * lease ends
	 */
	String save(boolean leased) {
		return "update " + this.table
				+ " set owner = ?, expires_at = ?, fence = ?, line = ?, told_at = ? where lock_key = ?"
				+ (leased ? this.lasting : this.atOnce);
	}

	/**
	 * Extend leases of exclusive owners, except those in rows that another transaction
	 * has locked. Parameters: lease time; all locks, which make the database use the
	 * index; and then a lock and an owner for each lease. MySQL and MariaDB leave out
	 * rows in a derived table only.
	 */
	String renew(int leases) {
		String unlocked = rowsOf(leases) + " and (lock_key, owner) in (" + list("(?, ?)", leases)
				+ ") and expires_at > " + this.clock + " for update" + SKIP_LOCKED;
		if (this.dialect.scansTables()) {
			return "update " + this.table + " l join (select distinct lock_key, " + this.clock
					+ " + ? as lease_end from " + unlocked
					+ ") u on l.lock_key = u.lock_key set l.expires_at = u.lease_end";
		}
		return "update " + this.table + " set expires_at = " + this.clock
				+ " + ? where lock_key in (select lock_key from " + unlocked + ")" + this.lasting;
	}

	/**
	 * The rows of locks. MySQL and MariaDB may otherwise lock all rows of a table to find
	 * few of them. Parameters: locks.
	 */
	private String rowsOf(int locks) {
		return this.table + (this.dialect.scansTables() ? " force index (primary)" : "") + " where lock_key in ("
				+ list("?", locks) + ")";
	}

	/**
	 * Read the lines of locks: lock, line. Parameters: locks.
	 */
	String selectLines(int locks) {
		return "select lock_key, line from " + this.table + " where line is not null and lock_key in ("
				+ list("?", locks) + ")";
	}

	/**
	 * Read which locks have a row. Parameters: locks.
	 */
	String selectKeys(int locks) {
		return "select lock_key from " + this.table + " where lock_key in (" + list("?", locks) + ")";
	}

	/**
	 * Read rows in the order of their keys: lock, end of the last lease, time. There is
	 * no index of these ends, which would make each grant slower. Parameter: the last
	 * lock of the page before.
	 * @param rows how many rows
	 */
	String selectPage(int rows) {
		return "select lock_key, expires_at, " + this.clock + " from " + this.table
				+ " where lock_key > ? order by lock_key " + this.dialect.limit(rows);
	}

	/**
	 * Delete a row that has not changed. Parameters: lock, end of the last lease.
	 */
	String delete() {
		return "delete from " + this.table + " where lock_key = ? and expires_at = ?" + this.atOnce;
	}

	private static String list(String element, int size) {
		return String.join(", ", Collections.nCopies(size, element));
	}

}
