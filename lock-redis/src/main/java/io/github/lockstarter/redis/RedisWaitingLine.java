// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redis;

import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;

/**
 * The line of a lock in Redis: a sorted set beside the lock, and a channel for each JVM
 * on which it is notified of its turn. {@code queue.lua} explains both.
 */
final class RedisWaitingLine implements WaitingLine {

	@SuppressWarnings("NullAway") // a stage without a result has null
	private static final Function<Long, Void> DONE = (answer) -> null;

	private final ScriptConnection scripts;

	private final LockScriptCalls calls;

	private final RedisReleaseSignal signal;

	RedisWaitingLine(ScriptConnection scripts, LockScriptCalls calls, RedisReleaseSignal signal) {
		this.scripts = scripts;
		this.calls = calls;
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
		return send(() -> this.calls.enter(key, owner));
	}

	@Override
	public CompletionStage<Void> withdraw(LockKey key) {
		return send(() -> this.calls.withdraw(key, null));
	}

	@Override
	public CompletionStage<Void> withdraw(LockKey key, OwnerToken owner) {
		return send(() -> this.calls.withdraw(key, owner));
	}

	private CompletionStage<Void> send(Supplier<ScriptCall> call) {
		return this.scripts.send(call, DONE);
	}

}
