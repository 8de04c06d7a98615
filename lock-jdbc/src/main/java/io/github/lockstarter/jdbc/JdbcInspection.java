// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.RowKey;

/**
 * Shows the locks of a table.
 */
final class JdbcInspection implements LockInspection {

	private final LockDatabase database;

	private final LockRows rows;

	private final JvmId jvm;

	JdbcInspection(LockDatabase database, LockRows rows, JvmId jvm) {
		this.database = database;
		this.rows = rows;
		this.jvm = jvm;
	}

	@Override
	public CompletionStage<State> inspect(LockKey key) {
		return Answer.of(() -> this.database.autocommit((session, sql) -> {
			LockState state = session.first(sql.select(), (row) -> LockState.read(row, sql.dialect()), RowKey.of(key));
			return (state != null) ? state.show() : State.UNKNOWN;
		}));
	}

	@Override
	public CompletionStage<Boolean> free(LockKey key, long fencingToken) {
		return Answer.of(() -> this.rows.change(key, false,
				(state) -> state.free(this.jvm.get(), LockInspection.baseOf(fencingToken))));
	}

}
