// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;

/**
 * Carries out what the transitions of a lock ask for, and reports back to the lock what
 * came of it. Nothing here blocks a thread that did not come to wait.
 */
interface Desk {

	/**
	 * Ask the store for the lock, on behalf of the first waiter. The lock is told the
	 * answer or that there is none, once.
	 */
	void ask(LocalLock lock, Attempt attempt, Waiter head);

	/**
	 * Tell the lock after a while that it is time to ask again.
	 * @param number which of the alarms of this lock it is
	 */
	void listen(LocalLock lock, long number, long nanos);

	/**
	 * Forget the alarm of a lock that no longer listens.
	 */
	void cancelAlarm(LocalLock lock);

	/**
	 * Release the lock in the store, and tell the lock when its next waiter may ask.
	 * @param hold the last hold of the tenure, or {@code null} if there was none
	 * @param next how this JVM stands in the line of the store from now on, or
	 * {@code null} if it does not
	 */
	void giveBack(LocalLock lock, Tenure tenure, @Nullable Hold hold, @Nullable LockMode next);

	/**
	 * Let the lock stay taken in the store after its last hold, and tell the lock when
	 * its next waiter may ask.
	 */
	void keep(LocalLock lock, Hold hold);

	/**
	 * Ask whether another JVM waits for the lock, and tell the lock when that is
	 * answered.
	 */
	void probe(LocalLock lock, Tenure tenure);

	/**
	 * Give an attempt that has not been granted back, if it may be granted later.
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
	void admitLater(LocalLock lock);

	/**
	 * Forget the alarm of a hold that has ended, and tell of its loss if it was lost.
	 */
	void ended(Hold hold);

	/**
	 * End a hold whose time is over though no alarm has rung yet.
	 */
	void expire(Hold hold);

	/**
	 * Return the pause after a request that was refused.
	 * @param remaining how long the lease of the other owner lasts, or {@code null} if
	 * that is not known
	 * @param inLine whether a message may come before
	 */
	long pause(@Nullable Duration remaining, boolean inLine);

	/**
	 * Return the pause before the next request of an attempt that was not answered.
	 */
	long retryPause(Attempt attempt);

}
