// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;

/**
 * Where {@link Effect}s are carried out: between the locks of a registry and their store.
 * Whatever is answered later comes back as a transition of the lock.
 */
interface Desk {

	/**
	 * Ask the store for a lock on behalf of a waiter, and tell the lock the answer or
	 * that there is none, once.
	 */
	void ask(LockKey key, Attempt attempt, Waiter head);

	/**
	 * Tell the lock after a while that it is time to ask again.
	 */
	void listen(LockKey key, Alarm alarm, long nanos);

	/**
	 * Forget the alarm of a lock that no longer listens.
	 */
	void cancel(Alarm alarm);

	/**
	 * Release the lock in the store, and tell the lock when its next waiter may ask.
	 * @param hold the last hold of the tenure, or {@code null} if there was none
	 * @param next the mode in which this JVM wants the lock next, or {@code null} if
	 * nobody waits here
	 */
	void giveBack(Tenure tenure, @Nullable Hold hold, @Nullable LockMode next);

	/**
	 * Keep the lock taken in the store after its last hold, and tell the lock when its
	 * next waiter may ask.
	 */
	void keep(Hold hold);

	/**
	 * Ask whether another JVM waits for the lock, and tell the lock when that is
	 * answered.
	 */
	void probe(Tenure tenure);

	/**
	 * Release what the requests of an attempt that has ended may still acquire.
	 */
	void orphan(LockKey key, Attempt attempt);

	/**
	 * Take this JVM out of the line of the store.
	 */
	void withdraw(LockKey key);

	/**
	 * Put a waiter into the line of the store under its own name.
	 */
	void enterLine(LockKey key, Waiter waiter);

	/**
	 * Renew the lease from now on, or anew as long as the current hold needs it.
	 */
	void watch(Tenure tenure);

	/**
	 * Look after a while whether readers that wait may join those that hold the lock.
	 */
	void lookLater(LockKey key);

	/**
	 * Forget the alarm of a hold that has ended, and tell of its loss if it was lost.
	 */
	void ended(Hold hold);

	/**
	 * End a hold whose time is over though no alarm has rung yet.
	 */
	void expire(Hold hold);

	/**
	 * Return the pause after a request that was refused, in nanoseconds.
	 * @param remaining how long the lease of the other owner lasts, or {@code null} if
	 * that is not known
	 * @param inLine whether a message may come before
	 */
	long pause(@Nullable Duration remaining, boolean inLine);

	/**
	 * Return the pause before the next request of an attempt that was not answered, in
	 * nanoseconds.
	 */
	long retryPause(Attempt attempt);

}
