// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * One grant of a lock, from its acquisition until {@link #close()}. No thread owns it:
 * any thread may query or close it.
 */
public interface Lease extends LeaseSet {

	/**
	 * Return the lease of the innermost annotated method or {@link LockTemplate} that
	 * runs on this thread; for a body that returns a future, until the body has returned.
	 * Where the work continues on other threads, or is a reactive chain, declare a method
	 * parameter of type {@code Lease} instead. A lease that was acquired from a
	 * {@link LockRegistry} is never the current one.
	 * @throws IllegalStateException if there is no such lease, or if the method or
	 * template holds several locks; see {@link LeaseSet#current()}
	 */
	static Lease current() {
		return LeaseContext.current();
	}

	/**
	 * Return the lock of this lease.
	 */
	LockKey key();

	/**
	 * Return this lease as the only one.
	 */
	@Override
	default List<Lease> all() {
		return List.of(this);
	}

	/**
	 * Return a number that is strictly larger for every later grant of the same lock,
	 * also after the store has lost its data. A resource that refuses writes with a
	 * smaller number than the largest it has seen is safe from owners whose lease has
	 * expired. Reentrant leases share the number of the outermost one. The numbers of
	 * different registries cannot be compared.
	 */
	long fencingToken();

	/**
	 * Return whether the lock is exclusive or shared.
	 */
	default LockMode mode() {
		return LockMode.EXCLUSIVE;
	}

	/**
	 * Return whether this lease is neither closed nor known to be lost. A pause of the
	 * JVM right after this call can outlast the lease; only the
	 * {@linkplain #fencingToken() fencing token} protects against that.
	 */
	@Override
	boolean isHeld();

	/**
	 * Check that this lease is held.
	 * @throws LockLostException if the lock was lost
	 * @throws IllegalStateException if this lease is closed
	 */
	@Override
	void ensureHeld();

	/**
	 * Return how long this lease is certain to last if it is not renewed again; zero if
	 * the lease is not held.
	 */
	@Override
	Duration remaining();

	/**
	 * Call back when the lock is lost before this lease is closed, or at once if it is
	 * already lost. The callback is called at most once, on a thread that other callbacks
	 * share, so it should be short.
	 * @param callback what to call
	 */
	@Override
	void onLost(Consumer<LockLostException> callback);

	/**
	 * Keep the lock for at least some time after its grant, even if the lease is closed
	 * earlier. For the rest of that time no owner holds the lock, and no waiter acquires
	 * it. The last of several calls counts, including calls on reentrant leases. Does
	 * nothing if this lease is closed.
	 * @param time counted from the grant, up to 365 days; zero to release the lock as
	 * soon as the lease is closed
	 * @throws IllegalArgumentException if the time is negative or too long
	 * @throws IllegalStateException if the lock is shared
	 */
	@Override
	void holdAtLeast(Duration time);

	/**
	 * Release the lock, unless outer leases of the same owner still hold it. Closing
	 * again does nothing. A store that cannot be reached is no error here: the release is
	 * tried again in the background until the lease expires.
	 *
	 * <p>
	 * If the lock has a waiter in the same JVM, it is passed on to that waiter without
	 * asking the store. Otherwise, with Redis and Lettuce, the release is sent but its
	 * answer is not awaited. Another JVM may then find the lock held for a moment after
	 * this call, and a loss that only the answer reveals is published as an event. Set
	 * {@code distributed-lock.redis.await-release} to wait for the answer.
	 * @throws LockLostException if the lock was lost before
	 */
	@Override
	void close();

	/**
	 * Release the lock as {@link #close()} does, but on a thread that may wait for the
	 * store. Use it where the caller must not wait, for example on an event loop.
	 * @return done when the lock is released; fails with a {@link LockLostException} if
	 * the lock was lost before
	 */
	@Override
	CompletableFuture<Void> closeAsync();

}
