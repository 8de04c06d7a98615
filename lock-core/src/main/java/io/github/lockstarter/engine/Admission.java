// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockInterruptedException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockLostException;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;

/**
 * The steps on the way into a lock, for callers of every kind.
 */
final class Admission {

	private final LocalEntries entries;

	private final StoreAccess access;

	private final LeaseWatchdog watchdog;

	private final LeaseRelease release;

	private final LockListener listener;

	private final Executor tasks;

	Admission(LocalEntries entries, StoreAccess access, LeaseWatchdog watchdog, LeaseRelease release,
			LockListener listener, Executor tasks) {
		this.entries = entries;
		this.access = access;
		this.watchdog = watchdog;
		this.release = release;
		this.listener = listener;
		this.tasks = tasks;
	}

	LocalEntry entry(LockKey key) {
		return this.entries.getOrCreate(key);
	}

	/**
	 * Return whether the registry is shutting down.
	 */
	boolean isRefusing() {
		return this.access.isRefusing();
	}

	/**
	 * Note that a caller comes, which is {@linkplain #letIn let in} or
	 * {@linkplain #turnAway turned away} in any case.
	 */
	void come(Caller caller) {
		this.access.queue().come(caller);
	}

	/**
	 * Give a caller the lease of its hold.
	 */
	HeldLease letIn(Hold hold, Caller caller) {
		this.access.queue().leave(hold.entry().key(), caller, true);
		return lease(hold);
	}

	/**
	 * Put a caller into the queue of the store if it wants the lock in order of arrival.
	 */
	void arriveInStore(LockKey key, Caller caller) {
		this.access.queue().arrive(key, caller, this.access::listen);
	}

	/**
	 * Let readers in that wait, as soon as they may share the lock with those who hold
	 * it.
	 */
	void letReadersIn(LocalEntry entry) {
		this.release.letReadersIn(entry);
	}

	/**
	 * Ask whether another JVM waits for a lock, on a thread that may block.
	 */
	void ask(Tenure tenure) {
		this.release.probe(tenure);
	}

	/**
	 * Share the lock with those who hold it.
	 */
	Hold join(Hold hold, Caller caller) {
		if (isRefusing()) {
			this.release.leave(hold);
			throw shuttingDown(hold.entry().key());
		}
		this.release.join(hold);
		acquired(hold, caller);
		return hold;
	}

	/**
	 * Enter a hold of the same owner once more; if it is lost, on a thread that may
	 * block.
	 * @return the hold, or {@code null} if it is over and forgotten, so that its owner
	 * has to come anew
	 * @throws LockLostException if it is lost, and the outer level has yet to learn of it
	 */
	@Nullable Hold reenter(Hold hold) {
		if (hold.isHeld()) {
			return hold;
		}
		this.release.expireIfDue(hold);
		// The outer level keeps the lock until its own end, which tells of the loss as
		// well
		this.release.leave(hold);
		if (hold.entry().holdOf(hold.owner()) != hold) {
			return null;
		}
		throw hold.loss();
	}

	/**
	 * Take a hold that was handed on.
	 * @return false if it was lost on the way
	 * @throws LockInterruptedException if the caller was interrupted
	 */
	boolean receive(Hold hold, Caller caller) {
		boolean interrupted = caller.isInterrupted();
		if (interrupted || !hold.isHeld()) {
			this.release.leave(hold);
			if (interrupted) {
				throw new LockInterruptedException(hold.entry().key());
			}
			return false;
		}
		this.release.receive(hold);
		acquired(hold, caller);
		return true;
	}

	/**
	 * Ask the store, on a thread that may block.
	 * @return the hold, or {@code null} if somebody else held the lock all the time
	 */
	@Nullable Hold visitStore(LocalEntry entry, StoreTurn turn, Caller caller) {
		Tenure tenure = new StoreVisit(this.access, entry, caller).run(turn);
		if (tenure == null) {
			return null;
		}
		Hold hold = entry.begin(tenure, caller);
		this.watchdog.watch(tenure);
		if (tenure.isShared()) {
			this.release.limit(hold);
			this.release.letReadersIn(entry);
		}
		acquired(hold, caller);
		return hold;
	}

	/**
	 * Return what a caller is told that was out of time before its turn came, or
	 * {@code null} if somebody else held the lock.
	 */
	@Nullable LockUnavailableException outage(LocalEntry entry) {
		Outage outage = entry.outage();
		return (outage != null) ? this.access.unavailable(entry.key(), outage.cause()) : null;
	}

	/**
	 * Return what runs the steps of asynchronous callers, which may block.
	 */
	Executor tasks() {
		return this.tasks;
	}

	/**
	 * Leave a level of a hold that was entered for nothing.
	 */
	void leave(Hold hold) {
		this.release.leave(hold);
	}

	HeldLease lease(Hold hold) {
		return new HeldLease(hold, this.release, this.tasks);
	}

	/**
	 * Let a caller go without the lock.
	 * @param reason why, or {@code null} if somebody else held it until the caller was
	 * out of time
	 */
	void turnAway(LockKey key, Caller caller, @Nullable Throwable reason) {
		if (reason == null) {
			this.listener.onEvent(new LockEvent.Contended(key, caller.waited()));
		}
		else if (reason instanceof LockInterruptedException) {
			this.listener.onEvent(new LockEvent.Interrupted(key, caller.waited()));
		}
		else if (reason instanceof LockUnavailableException) {
			this.listener.onEvent(new LockEvent.Unavailable(key, reason));
		}
		this.access.queue().leave(key, caller, false);
	}

	static LockUnavailableException shuttingDown(LockKey key) {
		return new LockUnavailableException(key, "its registry is shutting down", null);
	}

	static IllegalStateException upgrading(LockKey key, Caller caller) {
		return new IllegalStateException("Lock '" + key + "' is held for reading and cannot be asked for in mode "
				+ caller.mode() + " as well: two readers that do so would wait for each other. Give it back"
				+ " before, or ask for the stronger mode first");
	}

	/**
	 * Tell that a caller holds the lock.
	 */
	void acquired(Hold hold, Caller caller) {
		this.listener.onEvent(new LockEvent.Acquired(hold.entry().key(), hold.fencingToken(), caller.waited()));
	}

}
