// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;

/**
 * The place where locks are kept, as seen by one JVM. A store grants, renews and releases
 * locks, and declares what else it can do. A store with blocking requests is easiest to
 * write as a {@link BlockingLockStore}.
 *
 * <p>
 * Every request is atomic, changes a lock only on behalf of its owner, and can be
 * repeated with the same owner token without harm. A failed stage means that the outcome
 * is not known; after an {@link UnusableStoreException} it is pointless to ask again
 * soon, and an {@link IllegalArgumentException} says that the store cannot keep that
 * lock. A request returns a failed stage and never throws. Its stage ends within a few
 * seconds, with a failure if there is no answer. Requests of this JVM for the same lock
 * take effect in the order in which their methods are called. Except for its
 * {@linkplain #longestLease() longest lease}, what a store declares never changes.
 * Implementations are thread-safe.
 */
public interface LockStore {

	/**
	 * The longest lease of all stores, 365 days.
	 */
	Duration LONGEST_LEASE = Duration.ofDays(365);

	/**
	 * Return the name of this store in messages.
	 */
	default String name() {
		return getClass().getSimpleName();
	}

	/**
	 * Return where this store keeps locks, for messages: hosts with ports, and the
	 * database, but no secrets. It may be known only after the first connection.
	 * @return the address; empty if it is not known
	 */
	default String address() {
		return "";
	}

	/**
	 * Return the modes in which this store grants locks.
	 */
	Set<LockMode> modes();

	/**
	 * Set the name of this instance, by which others see it in the
	 * {@linkplain #waitingLine() waiting line}. This method is called before any lock is
	 * requested. A store without a line ignores it: each owner token begins with the
	 * name.
	 * @param name the name, as {@link Rule#INSTANCE_NAME} requires
	 */
	default void setInstance(String name) {
	}

	/**
	 * Open the first connection, without blocking. It may take much longer than a
	 * request, because the JVM loads classes meanwhile, so the first requests for locks
	 * are made after it, and only then their leases begin. This method is called once,
	 * when the application starts or a lock is requested.
	 * @return done when the connection is open, or could not be opened in time; then
	 * requests connect by themselves
	 */
	default CompletionStage<?> connect() {
		return CompletableFuture.completedFuture(null);
	}

	/**
	 * Grant a lock to an owner if no other owner holds it, or if its
	 * {@linkplain OwnerToken#mode() mode} shares the lock with all holders. If this owner
	 * already holds the lock, extend its lease and return the same fencing base, or a
	 * larger one if other owners share the lock with it. A reader is also refused while a
	 * writer waits in the {@linkplain #waitingLine() waiting line}, and a FAIR owner
	 * while an earlier one waits.
	 * @param request the lock, its owner and the length of the lease
	 * @param wait whether a refusal gives a place in the line: to a FAIR owner under its
	 * own token, otherwise one to this JVM for all its exclusive or all its shared
	 * waiters; a grant gives the place up. Without, the places of this JVM stay as they
	 * are
	 * @return an {@link AcquireResult.Grant} or an {@link AcquireResult.Refusal}
	 */
	CompletionStage<AcquireResult> acquire(LeaseRequest request, boolean wait);

	/**
	 * Extend leases to their full length from now on, or only check whether they are
	 * held. A lock that is released while this method is called is released once more
	 * afterwards, so that a store of several servers may take it again on some of them.
	 * @param requests a request for each lease; a lease time of zero extends nothing
	 * @return for each request, in the same order, whether the owner holds the lock; if
	 * not, nothing was changed that a release does not undo
	 */
	List<CompletionStage<Boolean>> renew(List<LeaseRequest> requests);

	/**
	 * Release a lock, and notify the first reachable JVM in its line, for which the lock
	 * is reserved for a moment. This JVM keeps its places; if it is the first in line, it
	 * is notified itself.
	 * @param key the lock
	 * @param owner the owner that releases it
	 * @return whether the owner held the lock; if not, nothing was changed. If a driver
	 * repeats the request unnoticed, the answer to the first one
	 */
	CompletionStage<Boolean> release(LockKey key, OwnerToken owner);

	/**
	 * Return how this store keeps a lock after its owner has released it, if it can.
	 */
	default Optional<LockKeeping> keeping() {
		return Optional.empty();
	}

	/**
	 * Return how this store shows who holds a lock and who waits, if it can. A registry
	 * adds what it knows of its own holds.
	 */
	default Optional<LockInspection> inspection() {
		return Optional.empty();
	}

	/**
	 * Return the line in which JVMs wait for the locks of this store. Without one they
	 * poll, and a JVM that wants a lock all the time leaves it free for longer than
	 * others poll: now and then, or after each time slice if it was lately refused.
	 */
	default WaitingLine waitingLine() {
		return WaitingLine.NONE;
	}

	/**
	 * Return the longest time for which a grant or a renewal counts, from the moment its
	 * request was sent. It limits every lease, and a longer one is renewed more often.
	 * This method is called after each answer, must not block, and may return less than
	 * before, but never more: a store whose sessions expire knows their length only when
	 * it is connected.
	 */
	default Duration longestLease() {
		return LONGEST_LEASE;
	}

	/**
	 * Set what to run when the connection to the servers is interrupted: leases are then
	 * renewed at once, so that their owners learn early that they may be lost. A store
	 * that does not notice interruptions ignores it.
	 * @param task what to run; it does not block, and may run on a thread of the driver
	 */
	default void onInterruption(Runnable task) {
	}

	/**
	 * Return whether a request may block its thread until the store has answered. If so,
	 * requests are made by threads that may block, and never by those of a driver or an
	 * event loop.
	 */
	default boolean mayBlock() {
		return true;
	}

}
