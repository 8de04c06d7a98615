// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockInspection;

/**
 * Shows and frees locks as their store does, which knows ownerships, and knows the holds
 * of this instance.
 */
final class HoldInspection implements LockInspection {

	private final LockInspection store;

	private final LocalLocks locks;

	private final LeaseWatchdog watchdog;

	HoldInspection(LockInspection store, LocalLocks locks, LeaseWatchdog watchdog) {
		this.store = store;
		this.locks = locks;
		this.watchdog = watchdog;
	}

	@Override
	public CompletionStage<State> inspect(LockKey key) {
		return this.store.inspect(key)
			.thenApply((state) -> new State(state.holders().stream().map((each) -> current(key, each)).toList(),
					current(key, state.fencingToken()), state.waiters()));
	}

	@Override
	public CompletionStage<Boolean> free(LockKey key, long fencingToken) {
		if (current(key, fencingToken) != fencingToken) {
			return CompletableFuture.completedFuture(false);
		}
		return this.store.free(key, fencingToken).whenComplete((freed, ex) -> ownerships(key).forEach((ownership) -> {
			if (Boolean.TRUE.equals(freed) && isOf(ownership, fencingToken)) {
				this.watchdog.freed(ownership);
			}
			else {
				// Some stores free a shared lock from all readers, and a request
				// without an answer may have freed it
				this.watchdog.hasten(ownership);
			}
		}));
	}

	private Holder current(LockKey key, Holder holder) {
		Long token = holder.fencingToken();
		return (token == null) ? holder
				: new Holder(holder.name(), holder.mode(), holder.remaining(), holder.kept(), current(key, token));
	}

	/**
	 * Return the token of the current hold if the lock was handed on in this instance
	 * since, or before, the hold with the given token. Readers hold it together.
	 */
	private long current(LockKey key, long fencingToken) {
		return ownerships(key).stream()
			.filter((ownership) -> !ownership.isShared() && isOf(ownership, fencingToken))
			.findFirst()
			.map(Ownership::fencingToken)
			.orElse(fencingToken);
	}

	private static boolean isOf(Ownership ownership, long fencingToken) {
		return LockInspection.baseOf(ownership.fencingToken()) == LockInspection.baseOf(fencingToken);
	}

	private List<Ownership> ownerships(LockKey key) {
		LocalLock lock = this.locks.get(key);
		return (lock != null) ? lock.ownerships() : List.of();
	}

}
