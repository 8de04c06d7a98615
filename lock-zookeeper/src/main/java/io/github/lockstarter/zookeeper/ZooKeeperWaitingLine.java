// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;

/**
 * The line of a lock in ZooKeeper: its sequential nodes, each of which watches the one
 * that it waits for.
 */
final class ZooKeeperWaitingLine implements WaitingLine {

	@SuppressWarnings("NullAway") // a stage without a result has null
	private static final Function<Boolean, Void> DONE = (answer) -> null;

	private final ZooKeeperLockStore store;

	private final Sessions sessions;

	ZooKeeperWaitingLine(ZooKeeperLockStore store, Sessions sessions) {
		this.store = store;
		this.sessions = sessions;
	}

	@Override
	public boolean listen(WaitingLine.Listener listener) {
		return this.sessions.listen(listener);
	}

	@Override
	public CompletionStage<Void> enter(LockKey key, OwnerToken owner) {
		return this.store.limit(this.store.ask(key, (line) -> line.places().enter(owner))).thenApply(DONE);
	}

	@Override
	public CompletionStage<Void> withdraw(LockKey key) {
		return done(this.store.ask(key, (line) -> line.places().withdraw()));
	}

	@Override
	public CompletionStage<Void> withdraw(LockKey key, OwnerToken owner) {
		return done(this.store.ask(key, (line) -> line.places().withdraw(owner)));
	}

	/** A withdrawal is carried out even if it takes longer than its answer may. */
	private CompletionStage<Void> done(CompletableFuture<Boolean> withdrawn) {
		return this.store.limit(withdrawn.thenApply(DONE));
	}

}
