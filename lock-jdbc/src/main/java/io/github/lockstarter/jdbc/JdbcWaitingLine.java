// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.Optional;
import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;

/**
 * The line of a lock in its row.
 */
final class JdbcWaitingLine implements WaitingLine {

	private final LockDatabase database;

	private final LockRows rows;

	private final JvmId jvm;

	private final ReleaseSignal signal;

	JdbcWaitingLine(LockDatabase database, LockRows rows, JvmId jvm, ReleaseSignal signal) {
		this.database = database;
		this.rows = rows;
		this.jvm = jvm;
		this.signal = signal;
	}

	@Override
	public boolean listen(WaitingLine.Listener listener) {
		return this.signal.listen(listener);
	}

	@Override
	public Optional<Boolean> isListening() {
		return this.signal.isListening();
	}

	@Override
	public CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
		return Answer.done(() -> {
			this.rows.changeOrCreate(key, (state) -> {
				state.line().add(Spot.of(this.jvm.get(), owner), this.signal.pace());
				return true;
			});
		});
	}

	@Override
	public CompletionStage<Void> withdraw(LockKey key) {
		return withdraw(key, new Spot(this.jvm.get(), false, null));
	}

	@Override
	public CompletionStage<Void> withdraw(LockKey key, OwnerToken owner) {
		return withdraw(key, Spot.of(this.jvm.get(), owner));
	}

	private CompletionStage<Void> withdraw(LockKey key, Spot spot) {
		return Answer.done(() -> {
			this.rows.change(key, false, (state) -> {
				state.withdraw(spot);
				return true;
			});
		});
	}

}
