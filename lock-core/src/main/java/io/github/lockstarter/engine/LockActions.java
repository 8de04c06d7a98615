// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.store.OwnerToken;

/**
 * What a {@link LocalLock} leaves to do when its guard is free again. Answers of the
 * store come back as transitions of the lock.
 */
interface LockActions {

	/**
	 * Ask the store for a lock on behalf of a waiter, and pass the answer or the failure
	 * to the lock, once.
	 */
	void ask(LockKey key, Attempt attempt, Waiter head);

	/**
	 * Run an alarm when it is due. It may be cancelled before this method is called.
	 */
	void setAlarm(Timetable.Entry alarm);

	/**
	 * Never run an alarm that has not run yet.
	 */
	void cancelAlarm(Timetable.Entry alarm);

	/**
	 * Release the lock in the store, and notify the lock when its next waiter may ask.
	 * @param hold the last hold of the ownership, or {@code null} if there was none
	 */
	void release(Ownership ownership, @Nullable Hold hold);

	/**
	 * Keep the lock in the store after its last hold, and notify the lock when its next
	 * waiter may ask.
	 */
	void keep(Hold hold);

	/**
	 * Release the lock if the requests of an ended attempt still acquire it.
	 */
	void orphan(LockKey key, Attempt attempt);

	/**
	 * Give up a place in the line of the store.
	 * @param owner the token of the waiter that has it, or {@code null} for that of this
	 * JVM
	 */
	void withdraw(LockKey key, @Nullable OwnerToken owner);

	/**
	 * Put a waiter into the line of the store under its own token.
	 */
	void enterLine(LockKey key, Waiter waiter);

	/**
	 * Watch the lease from now on, or anew for the current hold.
	 */
	void watch(Ownership ownership);

	/**
	 * Ask at once whether the store still knows the owner.
	 */
	void hasten(Ownership ownership);

	/**
	 * Forget the alarm of a hold that has ended, and publish the loss if it was lost.
	 */
	void ended(Hold hold);

	/**
	 * End a hold whose lease time is over although its alarm has not rung yet.
	 */
	void expire(Hold hold);

	/**
	 * Write a warning where that delays nobody, because it calls user code.
	 */
	void warn(Runnable warning);

}
