// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * Changes locks in a short transaction that locks their rows, and notifies waiting JVMs.
 */
final class LockRows {

	/** Rows that were just created may be deleted as idle before they are locked. */
	private static final int ATTEMPTS = 5;

	private final LockDatabase database;

	private final String jvm;

	private final WaitedLocks waited;

	private final Consumer<LockKey> ownTurn;

	/**
	 * Create the rows of a database.
	 * @param ownTurn called when a change of this JVM makes it the turn of this JVM
	 */
	LockRows(LockDatabase database, String jvm, WaitedLocks waited, Consumer<LockKey> ownTurn) {
		this.database = database;
		this.jvm = jvm;
		this.waited = waited;
		this.ownTurn = ownTurn;
	}

	/**
	 * Change a lock if it has a row.
	 * @param absent the result if it has none
	 */
	<T> T change(LockKey key, T absent, Function<LockState, T> transition) {
		Changed<T> changed = tryChange(List.of(key), (states) -> transition.apply(states.get(0)));
		if (changed == null) {
			this.waited.note(RowKey.of(key), key, false);
			return absent;
		}
		return changed.result();
	}

	/**
	 * Change a lock, and create its row if it has none.
	 */
	<T> T changeOrCreate(LockKey key, Function<LockState, T> transition) {
		return changeAll(List.of(key), (states) -> transition.apply(states.get(0)));
	}

	/**
	 * Change several locks together, and create the rows that are missing.
	 */
	<T> T changeAll(List<LockKey> keys, Function<List<LockState>, T> transition) {
		for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
			Changed<T> changed = tryChange(keys, transition);
			if (changed != null) {
				return changed.result();
			}
			keys.forEach(this::create);
		}
		throw new IllegalStateException("Another program deletes the rows of locks " + keys);
	}

	private <T> @Nullable Changed<T> tryChange(List<LockKey> keys, Function<List<LockState>, T> transition) {
		// Transactions that lock rows in the same order cannot deadlock
		SortedMap<String, LockKey> sorted = new TreeMap<>();
		keys.forEach((key) -> sorted.put(RowKey.of(key), key));
		Changed<T> changed = this.database.<@Nullable Changed<T>>transaction((session, sql) -> {
			Map<LockKey, LockState> states = new HashMap<>();
			for (Map.Entry<String, LockKey> each : sorted.entrySet()) {
				LockState state = session.first(sql.selectForUpdate(), (row) -> LockState.read(row, sql.dialect()),
						each.getKey());
				if (state == null) {
					return null;
				}
				states.put(each.getValue(), state);
			}
			T result = transition.apply(keys.stream().map((key) -> Objects.requireNonNull(states.get(key))).toList());
			List<LockKey> ownTurns = new ArrayList<>();
			for (Map.Entry<String, LockKey> each : sorted.entrySet()) {
				LockState state = Objects.requireNonNull(states.get(each.getValue()));
				save(session, sql, each.getKey(), each.getValue(), state);
				if (state.line().told().contains(this.jvm)) {
					ownTurns.add(each.getValue());
				}
			}
			return new Changed<>(result, ownTurns);
		});
		if (changed != null) {
			changed.ownTurns().forEach(this.ownTurn);
		}
		return changed;
	}

	private void save(SqlSession session, LockSql sql, String rowKey, LockKey key, LockState state)
			throws SQLException {
		LockRow row = state.changed();
		if (row != null) {
			session.update(sql.save(state.isLeased()), row.owner(), row.expiresAt(), row.fence(), row.line(),
					row.toldAt(), rowKey);
		}
		this.waited.note(rowKey, key, state.line().contains(this.jvm));
		for (String told : state.line().told()) {
			if (told.equals(this.jvm)) {
				this.waited.see(rowKey, state.line().lastTold());
			}
			else if (sql.dialect() == Dialect.POSTGRESQL) {
				// It may listen, whatever the settings of this JVM are
				PostgresChannel.send(session, told, rowKey, LineEntry.toldAt(state.line().places(), told));
			}
		}
	}

	private void create(LockKey key) {
		this.database.autocommit((session, sql) -> {
			try {
				return session.update(sql.insertFree(), RowKey.of(key));
			}
			catch (SQLException ex) {
				if (!SqlErrors.isDuplicate(ex)) {
					throw ex;
				}
				return 0;
			}
		});
	}

	private record Changed<T>(T result, List<LockKey> ownTurns) {
	}

}
