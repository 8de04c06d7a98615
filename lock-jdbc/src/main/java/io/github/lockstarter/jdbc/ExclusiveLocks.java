// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.RowKey;

/**
 * The short way to an exclusive lock for which no JVM stands in line: statements that are
 * transactions of their own, and compare and set one row.
 */
final class ExclusiveLocks {

	private static final Set<LockMode> MODES = Set.of(LockMode.EXCLUSIVE, LockMode.WRITE);

	private final LockDatabase database;

	private final WaitedLocks waited;

	ExclusiveLocks(LockDatabase database, WaitedLocks waited) {
		this.database = database;
		this.waited = waited;
	}

	/**
	 * Grant a lock, or refuse it.
	 * @param inLine whether a refused owner takes a place in the line
	 * @return {@code null} if the row must be locked to decide
	 */
	@Nullable AcquireResult acquire(LeaseRequest request, boolean inLine) {
		String rowKey = RowKey.of(request.key());
		if (!MODES.contains(request.owner().mode()) || this.waited.contains(rowKey)) {
			return null;
		}
		return this.database.<@Nullable AcquireResult>autocommit((session, sql) -> switch (sql.dialect()) {
			case GENERIC -> null;
			case POSTGRESQL -> upsert(session, sql, rowKey, request, inLine);
			default -> take(session, sql, rowKey, request, inLine);
		});
	}

	private @Nullable AcquireResult upsert(SqlSession session, LockSql sql, String rowKey, LeaseRequest request,
			boolean inLine) throws SQLException {
		Long fence = session.first(sql.upsert(), (row) -> row.getLong(1), rowKey, request.owner().value(),
				micros(request));
		if (fence != null) {
			return new AcquireResult.Grant(fence);
		}
		return inLine ? null : refusal(read(session, sql, rowKey), request.owner());
	}

	private @Nullable AcquireResult take(SqlSession session, LockSql sql, String rowKey, LeaseRequest request,
			boolean inLine) throws SQLException {
		String owner = request.owner().value();
		Long fence = change(session, sql, sql.take(), owner, micros(request), owner, rowKey, owner);
		LockState state = null;
		if (fence == null) {
			state = read(session, sql, rowKey);
			fence = (state == null) ? insert(session, sql, rowKey, owner, micros(request)) : null;
		}
		if (fence == null) {
			return inLine ? null : refusal(state, request.owner());
		}
		return (fence > 0) ? new AcquireResult.Grant(fence) : granted(read(session, sql, rowKey), request.owner());
	}

	/**
	 * Change a row that has no line.
	 * @return the fencing base, or 0 if the driver does not report it; {@code null} if
	 * nothing has changed
	 */
	private static @Nullable Long change(SqlSession session, LockSql sql, String statement, Object... parameters)
			throws SQLException {
		return (sql.dialect() == Dialect.H2) ? session.first(statement, (row) -> row.getLong(1), parameters)
				: session.updateForKey(statement, parameters);
	}

	private static @Nullable Long insert(SqlSession session, LockSql sql, String rowKey, String owner, long micros)
			throws SQLException {
		try {
			return change(session, sql, sql.insertOwned(), rowKey, owner, micros);
		}
		catch (SQLException ex) {
			if (SqlErrors.isDuplicate(ex)) {
				return null;
			}
			throw ex;
		}
	}

	private static @Nullable AcquireResult granted(@Nullable LockState state, OwnerToken owner) {
		return (state != null && state.isHeldBy(owner)) ? new AcquireResult.Grant(state.fence()) : null;
	}

	private static @Nullable LockState read(SqlSession session, LockSql sql, String rowKey) throws SQLException {
		return session.first(sql.select(), (row) -> LockState.read(row, sql.dialect()), rowKey);
	}

	private static @Nullable AcquireResult refusal(@Nullable LockState state, OwnerToken owner) {
		boolean held = state != null && state.isPlain() && !state.isFree() && !state.isHeldBy(owner);
		return (held && state != null) ? state.refusal() : null;
	}

	/**
	 * Release a lock.
	 * @return whether it was released; if not, the row must be locked to decide
	 */
	boolean release(LockKey key, OwnerToken owner) {
		if (owner.mode() == LockMode.READ) {
			return false;
		}
		return this.database.autocommit((session, sql) -> sql.dialect().computesTime()
				&& session.update(sql.release(), RowKey.of(key), owner.value()) == 1);
	}

	private static long micros(LeaseRequest request) {
		return TimeUnit.MICROSECONDS.convert(request.leaseTime());
	}

}
