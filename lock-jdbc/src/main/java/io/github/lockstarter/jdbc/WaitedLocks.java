// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.jdbc;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * The locks for which this JVM stands in line, by the keys of their rows.
 */
final class WaitedLocks {

	private final ConcurrentMap<String, Waited> locks = new ConcurrentHashMap<>();

	private volatile Runnable whenAdded = () -> {
	};

	/**
	 * Note whether this JVM stands in the line of a lock. Called while the row of the
	 * lock is locked, so that two requests cannot come in the other order.
	 */
	void note(String row, LockKey key, boolean inLine) {
		if (!inLine) {
			this.locks.remove(row);
		}
		else if (this.locks.putIfAbsent(row, new Waited(key, 0)) == null) {
			this.whenAdded.run();
		}
	}

	boolean contains(String row) {
		return this.locks.containsKey(row);
	}

	boolean isEmpty() {
		return this.locks.isEmpty();
	}

	/**
	 * Return the keys of the rows of all locks.
	 */
	List<String> rows() {
		return List.copyOf(this.locks.keySet());
	}

	/**
	 * Note that a message about a lock was seen.
	 * @param toldAt the time of the message
	 * @return the lock, or {@code null} if this message or a later one was seen before
	 */
	@Nullable LockKey see(String row, long toldAt) {
		Waited waited = this.locks.get(row);
		while (waited != null && toldAt > waited.seen()) {
			if (this.locks.replace(row, waited, new Waited(waited.key(), toldAt))) {
				return waited.key();
			}
			waited = this.locks.get(row);
		}
		return null;
	}

	/**
	 * Set what to call when this JVM begins to wait for a lock.
	 */
	void whenAdded(Runnable whenAdded) {
		this.whenAdded = whenAdded;
	}

	/**
	 * A lock, and the time of the last message about it that was seen.
	 */
	private record Waited(LockKey key, long seen) {
	}

}
