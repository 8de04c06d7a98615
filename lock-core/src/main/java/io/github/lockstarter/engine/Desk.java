// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.OwnerToken;

/**
 * Carries out {@link Effect}s, between the locks of a registry and their store. Later
 * answers come back as transitions of the lock.
 */
interface Desk {

	/**
	 * Ask the store for a lock on behalf of a waiter, and pass the answer or the failure
	 * to the lock, once.
	 */
	void ask(LockKey key, Attempt attempt, Waiter head);

	/**
	 * Make the lock ask again after a pause.
	 */
	void listen(LockKey key, Alarm alarm, long nanos);

	/**
	 * Forget the alarm of a lock that no longer listens.
	 */
	void cancel(Alarm alarm);

	/**
	 * Release the lock in the store, and notify the lock when its next waiter may ask.
	 * @param hold the last hold of the tenure, or {@code null} if there was none
	 * @param next the mode of the next waiter in this JVM, or {@code null} without one
	 */
	void release(Tenure tenure, @Nullable Hold hold, @Nullable LockMode next);

	/**
	 * Keep the lock in the store after its last hold, and notify the lock when its next
	 * waiter may ask.
	 */
	void keep(Hold hold);

	/**
	 * Ask whether another JVM waits for the lock, and pass the answer to the lock.
	 */
	void probe(Tenure tenure);

	/**
	 * Release the lock if the requests of an ended attempt still acquire it.
	 */
	void orphan(LockKey key, Attempt attempt);

	/**
	 * Take this JVM out of the line of the store.
	 */
	void withdraw(LockKey key);

	/**
	 * Take a waiter that has left out of the line of the store.
	 * @param owner the token under which it stands there
	 */
	void withdraw(LockKey key, OwnerToken owner);

	/**
	 * Put a waiter into the line of the store under its own token.
	 */
	void enterLine(LockKey key, Waiter waiter);

	/**
	 * Watch the lease from now on, or anew for the current hold.
	 */
	void watch(Tenure tenure);

	/**
	 * Ask at once whether the store still knows the owner.
	 */
	void hasten(Tenure tenure);

	/**
	 * Look after a pause whether waiting readers may join the holders.
	 */
	void lookLater(LockKey key);

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

	/**
	 * Return the pause after a refused request, in nanoseconds.
	 * @param remaining how long the lease of the other owner lasts, or {@code null} if
	 * that is not known
	 * @param inLine whether a message may come earlier
	 * @param refusals how many requests in a row were refused
	 */
	long pause(@Nullable Duration remaining, boolean inLine, int refusals);

	/**
	 * Return the pause after a request without an answer, in nanoseconds.
	 */
	long retryPause(Attempt attempt);

}
