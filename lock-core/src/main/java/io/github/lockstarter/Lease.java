// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * One grant of a lock, from its acquisition until {@link #close()}. It belongs to no
 * thread: any thread may ask or close it.
 */
public interface Lease extends AutoCloseable {

	/**
	 * Return the lease of the innermost annotated method or {@link LockTemplate} that
	 * runs on this thread; for a body that returns a future, until it has returned. Where
	 * the work goes on on other threads, or is a reactive chain, let the method have a
	 * parameter of type {@code Lease} instead. A lease that was taken from a
	 * {@link LockRegistry} is never the current one.
	 * @throws IllegalStateException if there is none
	 */
	static Lease current() {
		return LeaseContext.current();
	}

	/**
	 * Return which lock this is a lease of.
	 * @throws IllegalStateException if these are several, see {@link #all()}
	 */
	LockKey key();

	/**
	 * Return the leases of which this one consists: one for each lock, if several were
	 * asked for together, else itself.
	 */
	default List<Lease> all() {
		return List.of(this);
	}

	/**
	 * Return a number that is strictly larger for every later grant of the same lock,
	 * also after the store has lost its data. A resource that refuses writes with a
	 * smaller number than it has seen is safe from owners whose lease ran out. Reentrant
	 * leases share the number of the outermost one.
	 * @throws IllegalStateException if this is the lease of several locks, each of which
	 * has a token of its own; see {@link #all()}
	 */
	long fencingToken();

	/**
	 * Return whether this lease is neither closed nor known to be lost. A pause of the
	 * JVM right after the answer can outlast the lease; only the
	 * {@linkplain #fencingToken() fencing token} covers that.
	 */
	boolean isHeld();

	/**
	 * Do nothing if this lease is held.
	 * @throws LockLostException if the lock was lost
	 * @throws IllegalStateException if this lease is closed
	 */
	void ensureHeld();

	/**
	 * Return how long this lease is certain to last if it is not renewed again; zero if
	 * it is not held.
	 */
	Duration remaining();

	/**
	 * Call back when the lock is lost before this lease is closed, or at once if it was
	 * lost already. At most one call, on a thread that other callbacks share, so it
	 * should be short.
	 * @param callback what to call
	 */
	void onLost(Consumer<LockLostException> callback);

	/**
	 * Let {@link #close()} not give the lock back before it was held for some time: then
	 * it stays taken in the store for the rest of that time, though nobody holds it, and
	 * is handed on to nobody. Of several calls the last one counts, also of reentrant
	 * leases. Does nothing if this lease is closed.
	 * @param time counted from the grant, up to 365 days; zero to give the lock back as
	 * soon as it is closed
	 * @throws IllegalArgumentException if the time is negative or too long
	 */
	void holdAtLeast(Duration time);

	/**
	 * Give the lock back, unless outer leases of the same owner still hold it. Closing
	 * again does nothing. A store that cannot be reached is no error here: giving back is
	 * tried again in the background until the lease ends by itself.
	 *
	 * <p>
	 * If somebody in the same JVM waits for the lock, it is handed on without asking the
	 * store. Else, with Redis and Lettuce, the release is sent but its answer is not
	 * waited for, so another JVM may find the lock taken for a moment after this call; a
	 * loss that only the answer tells of is told by an event.
	 * {@code distributed-lock.redis.await-release} changes that.
	 * @throws LockLostException if the lock was lost before
	 */
	@Override
	void close();

	/**
	 * Give the lock back like {@link #close()}, but on a thread that may wait for the
	 * store: for one that must not, such as that of an event loop.
	 * @return done when the lock is given back; fails with a {@link LockLostException} if
	 * it was lost before
	 */
	CompletableFuture<Void> closeAsync();

}
