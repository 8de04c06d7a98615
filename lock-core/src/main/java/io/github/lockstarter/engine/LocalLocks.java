// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * The locks that are held or waited for in this JVM, and no others.
 */
final class LocalLocks {

	private final Terms terms;

	private final Warnings warnings;

	private final LockActions actions;

	private final ConcurrentMap<LockKey, LocalLock> locks = new ConcurrentHashMap<>();

	private final Emptiness emptiness;

	private final Consumer<LocalLock> idle = this::idle;

	LocalLocks(Terms terms, Warnings warnings, LockActions actions) {
		this.terms = terms;
		this.warnings = warnings;
		this.actions = actions;
		this.emptiness = new Emptiness(terms.time(), () -> all().stream().noneMatch(LocalLock::isInUse));
	}

	/**
	 * Change a lock if it is in use.
	 */
	void change(LockKey key, Consumer<LocalLock> transition) {
		LocalLock lock = this.locks.get(key);
		if (lock != null) {
			transition.accept(lock);
		}
	}

	LocalLock getOrCreate(LockKey key) {
		LocalLock lock = this.locks.get(key);
		return (lock != null) ? lock : this.locks.computeIfAbsent(key,
				(k) -> new LocalLock(k, this.terms, this.warnings, this.actions, this.idle));
	}

	@Nullable LocalLock get(LockKey key) {
		return this.locks.get(key);
	}

	List<LocalLock> all() {
		return List.copyOf(this.locks.values());
	}

	List<LockKey> held() {
		return all().stream().filter(LocalLock::isHeld).map(LocalLock::key).toList();
	}

	int size() {
		return this.locks.size();
	}

	private void idle(LocalLock lock) {
		if (lock.isOver()) {
			this.locks.remove(lock.key(), lock);
		}
		this.emptiness.check();
	}

	/**
	 * Wait until no lock is in use. Those that are only lost are not awaited: their
	 * owners cannot finish in time any more.
	 * @param deadline when to stop waiting
	 */
	void awaitIdle(long deadline) {
		this.emptiness.await(deadline);
	}

}
