// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;

/**
 * Keeps this JVM's places in the queues of the store in step with its own waiters: where
 * the last one leaves, the place is given up.
 */
final class StoreQueue {

	private static final Log logger = LogFactory.getLog(StoreQueue.class);

	private static final long RETRY = TimeUnit.SECONDS.toNanos(1);

	private static final long LONGEST_ANSWER = TimeUnit.SECONDS.toNanos(3);

	private static final long GLANCE = TimeUnit.MILLISECONDS.toNanos(5);

	/**
	 * A place that stays behind is given up when this JVM is told that it is its turn, or
	 * is dead.
	 */
	private static final int ATTEMPTS = 60;

	private final LockStore store;

	private final Timetable timetable;

	private final StoreLanes lanes;

	private final LocalEntries entries;

	/** Callers that may have a place, and places that are being given up. */
	private final AtomicInteger underWay = new AtomicInteger();

	StoreQueue(LockStore store, Timetable timetable, StoreLanes lanes, LocalEntries entries) {
		this.store = store;
		this.timetable = timetable;
		this.lanes = lanes;
		this.entries = entries;
	}

	/**
	 * End a turn.
	 * @param entry the lock
	 * @param queued whether this JVM may stand in the queue of the store
	 * @param next what the next waiter finds
	 */
	void passOn(LocalEntry entry, boolean queued, StoreTurn next) {
		if (!entry.passOnOrEnd(next) && queued) {
			leave(entry.key());
		}
	}

	/**
	 * Let the waiter that deals with the store ask it again, if there is one.
	 */
	void ring(LockKey key) {
		LocalEntry entry = this.entries.get(key);
		if (entry != null) {
			entry.bell().ring();
		}
	}

	/**
	 * Leave the queue of a lock that nobody waits for here; if this JVM was told that it
	 * is free, another one is told instead.
	 */
	void leave(LockKey key) {
		this.underWay.incrementAndGet();
		leave(key, null);
	}

	/**
	 * Note that a caller comes, which {@link #leave(LockKey, Caller, boolean) leaves} in
	 * any case.
	 */
	void come(Caller caller) {
		if (caller.isInOrderOfArrival()) {
			this.underWay.incrementAndGet();
		}
	}

	/**
	 * Put a caller into the queue of a lock that it wants in order of arrival. If that
	 * fails it comes there when it asks for the lock.
	 * @param listen makes sure that messages arrive; who cannot be told counts as dead
	 */
	void arrive(LockKey key, Caller caller, BooleanSupplier listen) {
		try {
			if (listen.getAsBoolean()) {
				caller.setPlaced();
				this.store.arrive(key, caller.token());
			}
		}
		catch (RuntimeException ex) {
			logger.debug("Could not join the queue of lock '" + key + "' yet", ex);
		}
	}

	/**
	 * Leave the queue in which a caller stands under its own name.
	 * @param granted whether the store has taken it out
	 */
	void leave(LockKey key, Caller caller, boolean granted) {
		if (caller.isPlaced() && !granted) {
			leave(key, caller.token());
		}
		else if (caller.isInOrderOfArrival()) {
			this.underWay.decrementAndGet();
		}
	}

	private void leave(LockKey key, @Nullable OwnerToken owner) {
		this.lanes.execute(key, () -> {
			try {
				leave(key, owner, ATTEMPTS);
			}
			finally {
				this.underWay.decrementAndGet();
			}
		});
	}

	/**
	 * Wait until nobody is about to leave any more, for as long as a store may take.
	 */
	void awaitLeft() {
		long end = System.nanoTime() + LONGEST_ANSWER;
		while (this.underWay.get() > 0 && System.nanoTime() - end < 0 && !Thread.currentThread().isInterrupted()) {
			LockSupport.parkNanos(this, GLANCE);
		}
	}

	private void leave(LockKey key, @Nullable OwnerToken owner, int attempts) {
		if (!withdraw(key, owner) && attempts > 1) {
			this.timetable.at(this.timetable.now() + RETRY, () -> leaveAgain(key, owner, attempts - 1));
		}
		// Whoever came in the meantime lost the place as well, and has to ask again
		ring(key);
	}

	private void leaveAgain(LockKey key, @Nullable OwnerToken owner, int attempts) {
		if (owner != null || this.entries.get(key) == null) {
			this.lanes.execute(key, () -> leave(key, owner, attempts));
		}
	}

	private boolean withdraw(LockKey key, @Nullable OwnerToken owner) {
		try {
			if (owner != null) {
				this.store.withdraw(key, owner);
			}
			else {
				this.store.withdraw(key);
			}
			return true;
		}
		catch (RuntimeException ex) {
			logger.debug("Could not leave the queue of lock '" + key + "' yet", ex);
			return false;
		}
	}

}
