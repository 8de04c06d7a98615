// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.Function;

/**
 * Where locks come from. For a whole method or block, {@link DistributedLock} and
 * {@link LockTemplate} are simpler; use a registry where taking and giving back a lock do
 * not nest like a block.
 *
 * <p>
 * A nested acquisition of the same lock by the same thread is reentrant: it succeeds at
 * once, shares the lease of the outer one, and does not touch the store. It fails with a
 * {@link LockLostException} if the outer lease was lost, unless that one had a fixed
 * lease time: as such a lease need not be closed, the lock is then acquired anew.
 */
public interface LockRegistry {

	/**
	 * Take a lock, waiting for it as long as the request allows.
	 * @param request which lock, and how long to wait
	 * @return the lease, to be closed by the caller
	 * @throws LockContendedException if somebody else held the lock for the whole wait
	 * time
	 * @throws LockUnavailableException if the store could not be asked, or the registry
	 * is shutting down
	 * @throws LockInterruptedException if the thread is interrupted; its flag stays set
	 */
	Lease acquire(LockRequest request);

	/**
	 * Take a lock, waiting for it as long as the request allows, and return empty when
	 * somebody else held it for the whole wait time.
	 * @param request which lock, and how long to wait
	 * @return the lease, to be closed by the caller, or empty
	 * @throws LockUnavailableException if the store could not be asked, or the registry
	 * is shutting down
	 * @throws LockInterruptedException if the thread is interrupted; its flag stays set
	 */
	Optional<Lease> tryAcquire(LockRequest request);

	/**
	 * Take a lock without blocking the current thread, for one that must not wait. The
	 * lease belongs to nobody but who closes it: a further acquisition is never a nested
	 * one, and waits for this lease like any other. Actions that depend on the future may
	 * block if they are attached by an <code>…Async</code> method.
	 *
	 * <p>
	 * Cancelling the future, or completing it otherwise, ends the wait, also by
	 * {@link CompletableFuture#orTimeout}; a lease that is granted in the same instant is
	 * given back. While it waits for its turn in this JVM a caller takes up no thread.
	 * @param request which lock, and how long to wait
	 * @return the future lease, to be closed by the caller. It fails with a
	 * {@link LockContendedException} if somebody else held the lock for the whole wait
	 * time, and with a {@link LockUnavailableException} if the store could not be asked,
	 * or the registry is shutting down
	 */
	default CompletableFuture<Lease> acquireAsync(LockRequest request) {
		Object owner = new Object();
		return acquireAsync(request, (key) -> owner);
	}

	/**
	 * Take a lock without blocking the current thread, on behalf of an owner: a further
	 * acquisition by the same owner is a nested one. It succeeds at once and shares the
	 * lease of the outer one, which may be closed before it.
	 * @param request which lock, and how long to wait
	 * @param owners gives for each lock anything with {@code equals} and {@code hashCode}
	 * that stands for one piece of work, for example an object in the context of a
	 * reactive chain; not a thread
	 * @return the future lease, as of {@link #acquireAsync(LockRequest)}. It also fails
	 * with a {@link LockLostException} if the outer lease was lost, unless that one had a
	 * fixed lease time
	 */
	CompletableFuture<Lease> acquireAsync(LockRequest request, Function<LockKey, ?> owners);

	/**
	 * Take a lock on behalf of an owner, waiting for it on the current thread. The lease
	 * belongs to no thread, as of {@link #acquireAsync(LockRequest, Function)}: it is for
	 * work that begins on a thread and goes on after that thread has left it.
	 * @param request which lock, and how long to wait
	 * @param owners gives for each lock what stands for one piece of work; not a thread
	 * @return the lease, to be closed by the caller
	 * @throws LockContendedException if somebody else held the lock for the whole wait
	 * time
	 * @throws LockUnavailableException if the store could not be asked, or the registry
	 * is shutting down
	 * @throws LockInterruptedException if the thread is interrupted; its flag stays set
	 */
	default Lease acquire(LockRequest request, Function<LockKey, ?> owners) {
		// A future that is done already does not look at interrupts
		if (Thread.currentThread().isInterrupted()) {
			throw new LockInterruptedException(request.key());
		}
		CompletableFuture<Lease> lease = acquireAsync(request, owners);
		try {
			return lease.get();
		}
		catch (InterruptedException ex) {
			lease.cancel(false);
			Thread.currentThread().interrupt();
			throw new LockInterruptedException(request.key());
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() instanceof LockException failure) ? failure : new IllegalStateException(ex.getCause());
		}
	}

	/**
	 * Return a lock in the form of {@link java.util.concurrent.locks.Lock}, for code that
	 * expects one. It is owned by the thread that locked it and reentrant; its lease is
	 * renewed until it is unlocked. All methods throw {@link LockUnavailableException}
	 * when the store cannot be asked; {@link Lock#unlock()} throws
	 * {@link LockLostException} when the lock was lost before, and
	 * {@link IllegalMonitorStateException} when the thread does not hold it.
	 * {@link Lock#newCondition()} is not supported.
	 * @param key which lock
	 * @return a view; any two views of the same key are the same lock
	 */
	Lock lock(LockKey key);

	/**
	 * Return the two sides of a lock in the form of
	 * {@link java.util.concurrent.locks.ReadWriteLock}: the read lock has the mode
	 * {@link LockMode#READ} and the write lock {@link LockMode#WRITE}, and both behave as
	 * {@link #lock(LockKey)} does. A thread that holds the write lock may take the read
	 * lock as well, and excludes all others until it has given back both; one that holds
	 * the read lock alone gets an {@link IllegalStateException} from the write lock.
	 * @param key which lock
	 * @return a view; any two views of the same key are the same lock
	 */
	ReadWriteLock readWriteLock(LockKey key);

}
