// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.RowKey;

/**
 * Changes locks in a short transaction that locks their rows, and notifies waiting JVMs.
 */
final class LockRows {

	/** Rows that were just created may be deleted as idle before they are locked. */
	private static final int ATTEMPTS = 5;

	private final LockDatabase database;

	private final JvmId jvm;

	private final WaitedLocks waited;

	private final Consumer<LockKey> ownTurn;

	/**
	 * Create the rows of a database.
	 * @param ownTurn called when a change of this JVM makes it the turn of this JVM
	 */
	LockRows(LockDatabase database, JvmId jvm, WaitedLocks waited, Consumer<LockKey> ownTurn) {
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
		T changed = tryChange(key, transition);
		if (changed == null) {
			this.waited.note(RowKey.of(key), key, false);
			return absent;
		}
		return changed;
	}

	/**
	 * Change a lock, and create its row if it has none.
	 */
	<T> T changeOrCreate(LockKey key, Function<LockState, T> transition) {
		for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
			T changed = tryChange(key, transition);
			if (changed != null) {
				return changed;
			}
			create(key);
		}
		throw new IllegalStateException("Another program deletes the row of lock '" + key + "'");
	}

	/**
	 * Change several locks, each if it has a row, but leave out those whose rows other
	 * transactions have locked, if the database can do that.
	 * @param absent the result for a lock that has no row
	 * @return the results for the locks that were not left out
	 */
	<T> Map<LockKey, T> changeUnlocked(Set<LockKey> keys, T absent, BiFunction<LockKey, LockState, T> transition) {
		SortedMap<String, LockKey> sorted = sorted(keys);
		List<String> rowKeys = SqlSession.repeated(List.copyOf(sorted.keySet()));
		return Objects.requireNonNull(commit((session, sql) -> {
			Map<LockKey, LockState> states = new LinkedHashMap<>();
			session.all(
					sql.selectUnlocked(rowKeys.size()), (row) -> states
						.put(Objects.requireNonNull(sorted.get(row.getString(7))), LockState.read(row, sql.dialect())),
					rowKeys.toArray());
			Map<LockKey, T> results = new HashMap<>();
			states.forEach((key, state) -> results.put(key, transition.apply(key, state)));
			if (states.size() < sorted.size()) {
				Set<String> existing = Set
					.copyOf(session.all(sql.selectKeys(rowKeys.size()), (row) -> row.getString(1), rowKeys.toArray()));
				sorted.forEach((rowKey, key) -> {
					if (!existing.contains(rowKey)) {
						results.putIfAbsent(key, absent);
						this.waited.note(rowKey, key, false);
					}
				});
			}
			return new Changed<>(results, saveAll(session, sql, states));
		}));
	}

	private <T> @Nullable T tryChange(LockKey key, Function<LockState, T> transition) {
		return commit((session, sql) -> {
			LockState state = session.first(sql.selectForUpdate(), (row) -> LockState.read(row, sql.dialect()),
					RowKey.of(key));
			return (state != null) ? new Changed<>(transition.apply(state), saveAll(session, sql, Map.of(key, state)))
					: null;
		});
	}

	private static SortedMap<String, LockKey> sorted(Collection<LockKey> keys) {
		SortedMap<String, LockKey> sorted = new TreeMap<>();
		keys.forEach((key) -> sorted.put(RowKey.of(key), key));
		return sorted;
	}

	private <T> @Nullable T commit(LockDatabase.Work<@Nullable Changed<T>> work) {
		Changed<T> changed = this.database.<@Nullable Changed<T>>transaction(work);
		if (changed == null) {
			return null;
		}
		changed.ownTurns().forEach(this.ownTurn);
		return changed.result();
	}

	/**
	 * Save locks that have changed.
	 * @return those for which it became the turn of this JVM
	 */
	private List<LockKey> saveAll(SqlSession session, LockSql sql, Map<LockKey, LockState> states) throws SQLException {
		List<LockKey> ownTurns = new ArrayList<>();
		LastStatements statements = new LastStatements();
		for (Map.Entry<LockKey, LockState> each : states.entrySet()) {
			save(statements, sql, RowKey.of(each.getKey()), each.getKey(), each.getValue());
			if (each.getValue().line().told().contains(this.jvm.get())) {
				ownTurns.add(each.getKey());
			}
		}
		statements.run(session, sql.dialect());
		return ownTurns;
	}

	private void save(LastStatements statements, LockSql sql, String rowKey, LockKey key, LockState state) {
		LockRow row = state.changed();
		if (row != null) {
			statements.add(sql.save(state.isLeased()), row.owner(), row.expiresAt(), row.fence(), row.line(),
					row.toldAt(), rowKey);
		}
		this.waited.note(rowKey, key, state.line().contains(this.jvm.get()));
		for (String told : state.line().told()) {
			if (told.equals(this.jvm.get())) {
				this.waited.see(rowKey, state.line().lastTold());
			}
			else if (sql.dialect() == Dialect.POSTGRESQL) {
				// It may listen, whatever the settings of this JVM are
				PostgresChannel.send(statements, told, rowKey, LineEntry.toldAt(state.line().places(), told));
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
