// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * The leases of locks that were acquired together, from their acquisition until
 * {@link #close()}. The loss of one lock is the loss of the set. A {@link Lease} is a set
 * of one, so code that handles sets handles single locks as well.
 *
 * <p>
 * Each lock has a key and a fencing token of its own: get them from its lease,
 * {@link #get(LockKey) get(key)} or one of {@link #all()}. No thread owns a set: any
 * thread may query or close it.
 */
public interface LeaseSet extends AutoCloseable {

	/**
	 * Return the leases of the innermost annotated method or {@link LockTemplate} that
	 * runs on this thread, whether it holds one lock or several.
	 * @throws IllegalStateException if there is no such method or template
	 * @see Lease#current()
	 */
	static LeaseSet current() {
		return LeaseContext.currentSet();
	}

	/**
	 * Return the leases of all annotated methods and {@link LockTemplate}s that run on
	 * this thread, innermost first. For integrations; an application needs
	 * {@link #current()}.
	 */
	static List<LeaseSet> enclosing() {
		return LeaseContext.all();
	}

	/**
	 * Return the leases, one for each lock, in the order in which the locks were
	 * acquired. Closing one of them releases its lock, and the set is no longer held.
	 */
	List<Lease> all();

	/**
	 * Return the lease of a lock.
	 * @param key which lock
	 * @throws IllegalArgumentException if the lock is not one of this set
	 */
	default Lease get(LockKey key) {
		return all().stream()
			.filter((lease) -> lease.key().equals(key))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("There is no lease of lock '" + key + "' in this set"));
	}

	/**
	 * Return whether all leases are neither closed nor known to be lost. A pause of the
	 * JVM right after this call can outlast a lease; only
	 * {@linkplain Lease#fencingToken() fencing tokens} protect against that.
	 */
	boolean isHeld();

	/**
	 * Check that all leases are held.
	 * @throws LockLostException if a lock was lost
	 * @throws IllegalStateException if a lease is closed
	 */
	void ensureHeld();

	/**
	 * Return how long all leases are certain to last if they are not renewed again; zero
	 * if one of them is not held.
	 */
	Duration remaining();

	/**
	 * Call back when the first lock is lost before the set is closed, or at once if one
	 * is already lost. The callback is called at most once, on a thread that other
	 * callbacks share, so it should be short.
	 * @param callback what to call
	 */
	void onLost(Consumer<LockLostException> callback);

	/**
	 * Keep all locks for at least some time after their grant, even if they are released
	 * earlier. For the rest of that time no owner holds them, and no waiter acquires
	 * them. The last of several calls counts, and of several reentrant leases the longest
	 * time. Does nothing if the lease is closed.
	 * @param time counted from the grant, up to 365 days; zero takes it back, for this
	 * lease and for the reentrant ones that were acquired after it
	 * @throws IllegalArgumentException if the time is negative or too long, or the store
	 * cannot keep locks
	 * @throws IllegalStateException if one of the locks is shared
	 */
	void holdAtLeast(Duration time);

	/**
	 * Release all locks, unless outer leases of the same owner still hold them. Closing
	 * again does nothing. A store that cannot be reached is no error here: the release is
	 * tried again in the background until the lease expires.
	 *
	 * <p>
	 * If a lock has a waiter in the same JVM, it is passed on to that waiter without
	 * asking the store. Otherwise, with Redis and Lettuce, the release is sent but its
	 * answer is not awaited. Another JVM may then find the lock held for a moment after
	 * this call, and a loss that only the answer reveals is published as an event. Set
	 * {@code distributed-lock.redis.await-release} to wait for the answer.
	 *
	 * <p>
	 * A lease without a limit that is never closed is renewed until the JVM ends; the log
	 * warns of such a hold.
	 * @throws LockLostException if a lock was lost before; the others are released
	 */
	@Override
	void close();

	/**
	 * Release all locks as {@link #close()} does, but on a thread that may wait for the
	 * store. Use it where the caller must not wait, for example on an event loop.
	 * @return done when all locks are released; fails with a {@link LockLostException} if
	 * one was lost before
	 */
	CompletableFuture<Void> closeAsync();

}
