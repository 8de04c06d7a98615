// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;

/**
 * One lock inside this JVM, from its first caller to its last: who has the turn, which is
 * to deal with the store and then to hold the lock, and who waits for it, first come
 * first served.
 *
 * <p>
 * An entry without a turn is over: it is out of the map and never used again. The guard
 * is never held while the store or user code runs.
 */
final class LocalEntry {

	private final LockKey key;

	private final LocalEntries entries;

	private final ReentrantLock guard = new ReentrantLock();

	private final Deque<LocalWaiter> queue = new ArrayDeque<>();

	private final StoreBell bell = new StoreBell();

	private boolean taken;

	private boolean over;

	private @Nullable Hold hold;

	LocalEntry(LockKey key, LocalEntries entries) {
		this.key = key;
		this.entries = entries;
	}

	LockKey key() {
		return this.key;
	}

	/**
	 * Return the bell that rings when the store says that the lock may be free.
	 */
	StoreBell bell() {
		return this.bell;
	}

	/**
	 * Come to the lock.
	 * @return {@code null} if this entry is over and the caller has to look for another
	 */
	@Nullable Arrival arrive(Caller caller) {
		this.guard.lock();
		try {
			if (this.over) {
				return null;
			}
			if (this.hold != null && this.hold.belongsTo(caller.thread())) {
				return new Arrival.Reentered(this.hold.enter());
			}
			if (!this.taken) {
				this.taken = true;
				return new Arrival.Taken();
			}
			if (caller.isOutOfTime()) {
				return new Arrival.Contended();
			}
			LocalWaiter waiter = new LocalWaiter(caller);
			this.queue.add(waiter);
			return new Arrival.Queued(waiter);
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Leave the queue.
	 * @return {@code null}, or the turn if it came in the same instant
	 */
	@Nullable Turn leave(LocalWaiter waiter) {
		this.guard.lock();
		try {
			return this.queue.remove(waiter) ? null : waiter.turn();
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Turn the turn into a hold.
	 */
	void hold(Hold hold) {
		this.guard.lock();
		try {
			this.hold = hold;
		}
		finally {
			this.guard.unlock();
		}
	}

	@Nullable Hold holdOf(Thread thread) {
		this.guard.lock();
		try {
			return (this.hold != null && this.hold.belongsTo(thread)) ? this.hold : null;
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Leave one level of a hold.
	 * @return whether it was the last one, so that the lock has to be released
	 */
	boolean exit(Hold hold) {
		this.guard.lock();
		try {
			if (!hold.exit()) {
				return false;
			}
			this.hold = null;
			return true;
		}
		finally {
			this.guard.unlock();
		}
	}

	boolean hasWaiters() {
		this.guard.lock();
		try {
			return !this.queue.isEmpty();
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * Give the turn to the next waiter, or end this entry.
	 * @param turn what the next waiter finds
	 * @return whether there was one
	 */
	boolean passOnOrEnd(Turn turn) {
		this.guard.lock();
		try {
			LocalWaiter next = this.queue.poll();
			if (next != null) {
				next.give(turn);
				return true;
			}
			this.over = true;
			this.entries.remove(this);
			return false;
		}
		finally {
			this.guard.unlock();
		}
	}

	/**
	 * End the wait of all, also of the one that deals with the store.
	 */
	void refuseWaiters() {
		this.guard.lock();
		try {
			this.queue.forEach((waiter) -> waiter.give(Turn.REFUSED));
			this.queue.clear();
		}
		finally {
			this.guard.unlock();
		}
		this.bell.ring();
	}

}
