// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.backend;

import java.time.Duration;

import io.github.lockstarter.LockKey;

/**
 * A store of locks, as seen by one JVM.
 *
 * <p>
 * Every operation is atomic, changes a lock only on behalf of its owner, and can be
 * repeated with the same owner token without harm. Any exception means that the outcome
 * is not known; after an {@link UnusableStoreException} there is no point in asking again
 * soon. Implementations are thread-safe and answer within a few seconds, with an
 * exception if the store does not.
 */
public interface LockBackend {

	/**
	 * Grant the lock to an owner if nobody else holds it. An owner that holds it already
	 * gets its lease extended and the same fencing base.
	 * @param key which lock
	 * @param owner who asks
	 * @param leaseTime length of the lease
	 * @param queue whether to put this JVM into the queue of those waiting for the lock,
	 * if it is refused and the JVM does not stand there yet; a grant takes it out
	 * @return a {@link LockGrant} or a {@link LockRefusal}
	 */
	LockAttempt acquire(LockKey key, OwnerToken owner, Duration leaseTime, boolean queue);

	/**
	 * Extend a lease to its full length from now on.
	 * @param key which lock
	 * @param owner who asks
	 * @param leaseTime length of the lease
	 * @return whether the owner holds the lock; if not, nothing was changed
	 */
	boolean renew(LockKey key, OwnerToken owner, Duration leaseTime);

	/**
	 * Give a lock back and tell the first JVM of its queue that can be reached.
	 * @param key which lock
	 * @param owner who asks
	 * @param queue whether to put this JVM at the end of the queue if another one was
	 * told
	 * @return what happened
	 */
	ReleaseOutcome release(LockKey key, OwnerToken owner, boolean queue);

	/**
	 * Take this JVM out of the queue of a lock; if it was its turn to try, tell the next
	 * one.
	 * @param key which lock
	 */
	void withdraw(LockKey key);

	/**
	 * Return the signal of released locks.
	 */
	default ReleaseSignal releaseSignal() {
		return ReleaseSignal.NONE;
	}

}
