// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;

/**
 * Where locks are kept, as seen by one JVM: a store grants, extends and releases them,
 * and declares what else it can do. A store whose requests block is easiest written as a
 * {@link BlockingLockStore}.
 *
 * <p>
 * Every request is atomic, changes a lock only on behalf of its owner, and can be
 * repeated with the same owner token without harm. A stage that fails means that the
 * outcome is not known; after an {@link UnusableStoreException} there is no point in
 * asking again soon. A request never throws in place of a failed stage, and its stage
 * ends within a few seconds, with a failure if the store does not answer. Requests of
 * this JVM about one lock take effect in the order in which their methods were called.
 * Implementations are thread-safe.
 */
public interface LockStore {

	/**
	 * Return the name by which messages speak of this store.
	 */
	default String name() {
		return getClass().getSimpleName();
	}

	/**
	 * Return the modes in which this store grants locks.
	 */
	Set<LockMode> modes();

	/**
	 * Grant a lock to an owner if no other owner holds it, or only those with whom its
	 * {@linkplain OwnerToken#mode() mode} shares it. An owner that holds it already gets
	 * its lease extended and the same fencing base, or a larger one if others share the
	 * lock with it. A reader is also refused while a writer waits in the
	 * {@linkplain #waitingLine() waiting line}, and a FAIR owner while another one stands
	 * before it.
	 * @param request the lock, its owner and the length of the lease
	 * @param place how this JVM, or the owner, stands in the line if the lock is refused;
	 * a grant takes it out of the line
	 * @return a {@link LockGrant} or a {@link LockRefusal}
	 */
	CompletionStage<LockAttempt> acquire(LeaseRequest request, Place place);

	/**
	 * Extend leases to their full length from now on, or only ask for them.
	 * @param requests what to extend; a lease time of zero extends nothing. All locks
	 * have the same {@linkplain #servers() server}
	 * @return for each of them, in the same order, whether the owner holds the lock; if
	 * not, nothing was changed
	 */
	List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests);

	/**
	 * Release a lock, and tell the first JVM of its line that can be reached.
	 * @param key the lock
	 * @param owner the owner that has held it
	 * @param next the place at the end of the line that this JVM wants if another one was
	 * told. {@link Place#NONE} and {@link Place#OWN} leave the places of this JVM as they
	 * are, and it is told as well if it is the first
	 * @return what happened; after a repetition that the store takes for a new request,
	 * what happened the first time
	 */
	CompletionStage<ReleaseOutcome> release(LockKey key, OwnerToken owner, Place next);

	/**
	 * Return how this store keeps a lock taken after its owner has ended, if it can.
	 */
	default Optional<LockKeeping> keeping() {
		return Optional.empty();
	}

	/**
	 * Return how this store grants several locks in one step, if it can.
	 */
	default Optional<GroupGrant> groupGrant() {
		return Optional.empty();
	}

	/**
	 * Return the line in which this store keeps those that wait.
	 */
	default WaitingLine waitingLine() {
		return WaitingLine.NONE;
	}

	/**
	 * Return the servers of this store.
	 */
	default StoreServers servers() {
		return StoreServers.ONE;
	}

	/**
	 * Return whether a request may keep its thread until the store has answered. If so,
	 * requests are made by threads that may wait, and never by those of a driver or of an
	 * event loop.
	 */
	default boolean mayBlock() {
		return true;
	}

}
