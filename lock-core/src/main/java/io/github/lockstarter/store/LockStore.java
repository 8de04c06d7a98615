// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;

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
public interface LockStore {

	/**
	 * Grant the lock to an owner if nobody else holds it, or only those with whom its
	 * {@linkplain OwnerToken#mode() mode} shares it. An owner that holds it already gets
	 * its lease extended and the same fencing base, or a larger one if others share the
	 * lock with it. Who shares a lock is refused as well if somebody waits to have it
	 * alone, and who wants it in order of arrival if somebody came before.
	 * @param key which lock
	 * @param owner who asks
	 * @param leaseTime length of the lease
	 * @param queue whether to put this JVM into the queue of those waiting for the lock,
	 * if it is refused and the JVM does not stand there yet; a grant takes it out
	 * @return a {@link LockGrant} or a {@link LockRefusal}
	 */
	LockAttempt acquire(LockKey key, OwnerToken owner, Duration leaseTime, boolean queue);

	/**
	 * Ask for a lock without waiting for the answer, on a thread that must not block.
	 * @param key which lock
	 * @param owner who asks
	 * @param leaseTime length of the lease
	 * @param queue as in {@link #acquire(LockKey, OwnerToken, Duration, boolean)}
	 * @return the answer, now or later, or {@code null} if that is not possible
	 */
	default @Nullable CompletionStage<LockAttempt> acquireAsync(LockKey key, OwnerToken owner, Duration leaseTime,
			boolean queue) {
		return null;
	}

	/**
	 * Grant several locks to owners that want them alone, or none of them.
	 * @param requests for each lock who asks, and for how long
	 * @return the grants in the same order; empty if somebody else holds one of the locks
	 * or has a right to it; or {@code null} if the store cannot do that for these locks
	 */
	default @Nullable List<LockGrant> acquireAll(List<LeaseRequest> requests) {
		return null;
	}

	/**
	 * Extend a lease to its full length from now on.
	 * @param key which lock
	 * @param owner who asks
	 * @param leaseTime length of the lease; zero to extend nothing, and only ask
	 * @return whether the owner holds the lock; if not, nothing was changed
	 */
	boolean renew(LockKey key, OwnerToken owner, Duration leaseTime);

	/**
	 * Extend many leases at once, or only ask for them.
	 * @param extensions what to extend; all of locks with the same
	 * {@linkplain #serverOf(LockKey) server}
	 * @return for each of them, in the same order, what
	 * {@link #renew(LockKey, OwnerToken, Duration)} would have returned or thrown, now or
	 * later
	 */
	default List<CompletionStage<Boolean>> renewAll(List<LeaseRequest> extensions) {
		return extensions.stream().map(this::tryRenew).toList();
	}

	private CompletionStage<Boolean> tryRenew(LeaseRequest extension) {
		try {
			return CompletableFuture.completedFuture(renew(extension.key(), extension.owner(), extension.leaseTime()));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Return what of the store is responsible for a lock, so that one server which does
	 * not answer delays nothing that is asked of others. Must not block; what is not
	 * known is answered by a guess until the next {@linkplain #serverLookup() look-up}.
	 * @param key which lock
	 * @return something with {@code equals} and {@code hashCode}
	 */
	default Object serverOf(LockKey key) {
		return "";
	}

	/**
	 * Return what looks up the servers of all locks for {@link #serverOf(LockKey)}. It is
	 * run now and then on a thread that may block, and may fail.
	 * @return the look-up, or {@code null} if there is nothing to look up
	 */
	default @Nullable Runnable serverLookup() {
		return null;
	}

	/**
	 * Let a lock that is not shared stay taken for a time, instead of giving it back. It
	 * belongs to nobody then: a request of its owner that is carried out later, because
	 * it was under way, neither extends nor frees it.
	 * @param key which lock
	 * @param owner who asks
	 * @param time how long the lock stays taken from now on
	 * @return whether the lock stays taken, also because of an earlier such request of
	 * the same owner, whose time then counts; if not, nothing was changed
	 */
	boolean keep(LockKey key, OwnerToken owner, Duration time);

	/**
	 * Give a lock back and tell the first JVM of its queue that can be reached.
	 * @param key which lock
	 * @param owner who asks
	 * @param next how the next caller of this JVM wants the lock, for which the JVM is
	 * put at the end of the queue if another one was told; or {@code null} to leave the
	 * places of this JVM as they are, and tell it as well if it is the first
	 * @return what happened; after a repetition that nobody knows of, what happened the
	 * first time
	 */
	ReleaseOutcome release(LockKey key, OwnerToken owner, @Nullable LockMode next);

	/**
	 * Give a lock back, if possible without waiting for the answer: whatever this JVM
	 * asks the store about this lock after the call must take effect after the release.
	 * @param key which lock
	 * @param owner who asks
	 * @param next as in {@link #release(LockKey, OwnerToken, LockMode)}
	 * @return the outcome, now or later
	 */
	default CompletionStage<ReleaseOutcome> releaseAsync(LockKey key, OwnerToken owner, @Nullable LockMode next) {
		return CompletableFuture.completedFuture(release(key, owner, next));
	}

	/**
	 * Return whether another JVM stands in the queue of a lock; {@code true} if the store
	 * does not know.
	 * @param key which lock
	 */
	default boolean isAwaited(LockKey key) {
		return true;
	}

	/**
	 * Ask whether another JVM stands in the queue of a lock without waiting for the
	 * answer, on a thread that must not block.
	 * @param key which lock
	 * @return the answer, now or later, or {@code null} if that is not possible
	 */
	default @Nullable CompletionStage<Boolean> isAwaitedAsync(LockKey key) {
		return null;
	}

	/**
	 * Put an owner into the queue of a lock that it wants in order of arrival, before it
	 * asks for it. It is taken out by a grant or by
	 * {@link #withdraw(LockKey, OwnerToken)}.
	 * @param key which lock
	 * @param owner who waits
	 */
	void arrive(LockKey key, OwnerToken owner);

	/**
	 * Take this JVM out of the queue of a lock, and of those who wait in order of arrival
	 * only the one whose turn it is; if it was the turn of this JVM, tell the next one,
	 * and if it was in the way of those who share the lock, tell them.
	 * @param key which lock
	 */
	void withdraw(LockKey key);

	/**
	 * Take an owner out of the queue of a lock that it waits for in order of arrival; if
	 * it was its turn to try, tell the next one.
	 * @param key which lock
	 * @param owner who has waited
	 */
	void withdraw(LockKey key, OwnerToken owner);

	/**
	 * Return the signal of released locks.
	 */
	default ReleaseSignal releaseSignal() {
		return ReleaseSignal.NONE;
	}

}
