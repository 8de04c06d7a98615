// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * Acquires locks. For a whole method or block, {@link DistributedLock} and
 * {@link LockTemplate} are simpler; use a registry where the acquisition and the release
 * of a lock do not nest like a block.
 *
 * <p>
 * A nested acquisition of the same lock by the same thread is reentrant: it succeeds at
 * once, shares the lease of the outer one, and does not touch the store. If the outer
 * lease was lost, the lock is acquired anew, with a new fencing token; the outer lease
 * still reports the loss.
 *
 * <p>
 * Where a request leaves its wait time, lease time or longest hold open, the
 * {@linkplain #settings() settings} of the lock's name apply, and then the defaults. The
 * locks of two registries are different locks, even if their keys are the same.
 *
 * <p>
 * The methods for a collection of requests acquire several locks together or not at all:
 * one after another, in an order that is the same in all instances, so that two calls
 * with common locks cannot deadlock. They are released again if one of them cannot be
 * acquired in time.
 */
public interface LockRegistry {

	/**
	 * Acquire a lock, waiting for it as long as the request allows.
	 * @param request which lock, and how long to wait
	 * @return the lease, to be closed by the caller
	 * @throws IllegalArgumentException if the store cannot fulfil the request, or the
	 * request has a {@linkplain LockRequest#withHoldAtLeast time} that only a
	 * {@link LockTemplate} applies; all methods with a request refuse these
	 * @throws LockContendedException if another owner held the lock for the whole wait
	 * time
	 * @throws LockUnavailableException if the store could not be asked, or the registry
	 * is shutting down
	 * @throws LockInterruptedException if the thread is interrupted; its flag stays set
	 */
	Lease acquire(LockRequest request);

	/**
	 * Acquire a lock, waiting for it as long as the request allows, and return empty when
	 * another owner held the lock for the whole wait time.
	 * @param request which lock, and how long to wait
	 * @return the lease, to be closed by the caller, or empty
	 * @throws LockUnavailableException if the store could not be asked, or the registry
	 * is shutting down
	 * @throws LockInterruptedException if the thread is interrupted; its flag stays set
	 */
	Optional<Lease> tryAcquire(LockRequest request);

	/**
	 * Acquire a lock without blocking the current thread. No thread owns the lease, so
	 * any thread may close it. A further acquisition is not a nested one and waits like
	 * any other, unless both requests have the same {@linkplain LockRequest#withOwner
	 * owner}. Dependent actions may block if they are attached by an <code>…Async</code>
	 * method.
	 *
	 * <p>
	 * Cancelling the future, or completing it in another way, such as
	 * {@link CompletableFuture#orTimeout}, ends the wait. A lease that is granted in the
	 * same instant is closed. A waiter occupies no thread while it waits for its turn in
	 * this JVM.
	 * @param request which lock, and how long to wait
	 * @return the future lease, to be closed by the caller. It fails with a
	 * {@link LockContendedException} if another owner held the lock for the whole wait
	 * time, or with a {@link LockUnavailableException} if the store could not be asked or
	 * the registry is shutting down
	 */
	CompletableFuture<Lease> acquireAsync(LockRequest request);

	/**
	 * Acquire several locks together or not at all, waiting for them as long as the
	 * requests allow.
	 *
	 * <p>
	 * There is one wait time for all locks together: that of the requests, which must not
	 * differ, or else the shortest one in the settings of their names. When it has
	 * elapsed, no further lock is asked for; without wait time, each is asked for once. A
	 * lock that is requested twice is acquired once, in the stronger mode.
	 * @param requests requests for 1 to 1000 locks, in any order
	 * @return the leases, to be closed by the caller
	 * @throws IllegalArgumentException if there are no requests or too many, or their
	 * wait times differ, or a lock is requested for two owners
	 * @throws LockContendedException if another owner held one of the locks until the
	 * wait time was over
	 * @throws LockUnavailableException if the store could not be asked, or the registry
	 * is shutting down
	 * @throws LockInterruptedException if the thread is interrupted; its flag stays set
	 */
	LeaseSet acquireAll(Collection<LockRequest> requests);

	/**
	 * Acquire several locks together, waiting for them as long as the requests allow, and
	 * return empty when another owner held one of them until the wait time was over.
	 * @param requests requests for 1 to 1000 locks, in any order
	 * @return the leases, to be closed by the caller, or empty
	 * @throws LockUnavailableException if the store could not be asked, or the registry
	 * is shutting down
	 * @throws LockInterruptedException if the thread is interrupted; its flag stays set
	 */
	Optional<LeaseSet> tryAcquireAll(Collection<LockRequest> requests);

	/**
	 * Acquire several locks together or not at all, without blocking the current thread.
	 * @param requests requests for 1 to 1000 locks, in any order
	 * @return the future leases, to be closed by the caller; it ends early and fails as
	 * that of {@link #acquireAsync}
	 */
	CompletableFuture<LeaseSet> acquireAllAsync(Collection<LockRequest> requests);

	/**
	 * Return a lock as a {@link java.util.concurrent.locks.Lock}, for code that expects
	 * one. Its lease is renewed until it is unlocked, unless the caller or the settings
	 * of its name give it a length.
	 * @param key which lock
	 * @return a view; any two views of the same key are the same lock
	 */
	default LeasedLock lock(LockKey key) {
		return new LockView(this, key, LockMode.EXCLUSIVE);
	}

	/**
	 * Return a lock as a {@link java.util.concurrent.locks.ReadWriteLock}: the read lock
	 * has the mode {@link LockMode#READ} and the write lock {@link LockMode#WRITE}, and
	 * both behave as {@link #lock(LockKey)} does. A thread that holds the write lock may
	 * acquire the read lock as well, and excludes all other owners until it has released
	 * both. A thread that holds only the read lock cannot acquire the write lock:
	 * {@code tryLock} returns {@code false} at once, and {@code lock} throws an
	 * {@link IllegalStateException}.
	 * @param key which lock
	 * @return a view; any two views of the same key are the same lock
	 */
	default ReadWriteLock readWriteLock(LockKey key) {
		return LockView.BothSides.of(this, key);
	}

	/**
	 * Return the settings of lock names, which this registry applies to requests and a
	 * {@link LockTemplate} to its bodies. A registry that wraps another one returns those
	 * of the other.
	 */
	default LockSettings settings() {
		return LockSettings.NONE;
	}

	/**
	 * Return the registry that acquires the locks: this one, or the one that it wraps.
	 * The locks of two registries are the same only if the same one acquires them.
	 */
	default LockRegistry delegate() {
		return this;
	}

}
