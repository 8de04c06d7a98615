// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A request for one lock, for a {@link LockRegistry} or a {@link LockTemplate}. For
 * several locks that are acquired together, see {@link LockSetRequest}.
 *
 * @param key which lock
 * @param mode the mode in which to acquire the lock
 * @param waitTime how long to wait for the lock at most; zero to not wait, {@code null}
 * for the registry's default
 * @param leaseTime fixed length of the lease, or {@code null} for one that is renewed
 * until it is closed
 * @param holdAtLeast how long the lock is kept after its grant, even if the body of a
 * {@link LockTemplate} returns earlier, or {@code null} to release it when the body ends;
 * see {@link #withHoldAtLeast}
 * @param owner the owner of the lease; if {@code null}, the current thread is the owner,
 * or the lease itself if the lock is acquired asynchronously; see {@link #withOwner}
 */
public record LockRequest(LockKey key, LockMode mode, @Nullable Duration waitTime, @Nullable Duration leaseTime,
		@Nullable Duration holdAtLeast, @Nullable Object owner) implements AnyLockRequest<Lease> {

	/**
	 * A wait time without an end.
	 */
	public static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

	/**
	 * Shortest lease time.
	 */
	public static final Duration MIN_LEASE_TIME = Duration.ofMillis(10);

	/**
	 * Longest lease time.
	 */
	public static final Duration MAX_LEASE_TIME = Duration.ofDays(365);

	public LockRequest {
		requireLength("holdAtLeast", holdAtLeast);
		if (holdAtLeast != null && mode == LockMode.READ) {
			throw new IllegalArgumentException("'holdAtLeast' is not possible in mode " + mode
					+ ": one of several owners cannot keep a shared lock");
		}
		requireLength("leaseTime", leaseTime);
		if (owner instanceof Thread) {
			throw new IllegalArgumentException(
					"'owner' must not be a thread; without an owner the current thread owns the lock");
		}
		waitTime = (waitTime != null) ? limited(waitTime) : null;
	}

	/**
	 * Return a request for a lock with the registry's defaults.
	 * @param key which lock
	 */
	public static LockRequest of(LockKey key) {
		return new LockRequest(key, LockMode.EXCLUSIVE, null, null, null, null);
	}

	/**
	 * Return a request for the single lock of a name that has no keys, with the
	 * registry's defaults.
	 * @param name the name of what is guarded
	 * @see LockKey#of(String)
	 */
	public static LockRequest of(String name) {
		return of(LockKey.of(name));
	}

	/**
	 * Return a request for a lock with the registry's defaults.
	 * @param name the name of what is guarded
	 * @param key the key within the name
	 * @see LockKey#of(String, Object)
	 */
	public static LockRequest of(String name, Object key) {
		return of(LockKey.of(name, key));
	}

	@Override
	public LockRequest withWaitTime(Duration waitTime) {
		return new LockRequest(this.key, this.mode, waitTime, this.leaseTime, this.holdAtLeast, this.owner);
	}

	/**
	 * Return this request with a fixed lease time. The lock is lost if it is not released
	 * before. A lease that is meant to expire need not be closed.
	 * @param leaseTime length of the lease, 10 ms to 365 days
	 */
	public LockRequest withLeaseTime(Duration leaseTime) {
		return new LockRequest(this.key, this.mode, this.waitTime, leaseTime, this.holdAtLeast, this.owner);
	}

	/**
	 * Return this request, for a {@link LockTemplate}, with a time for which the lock is
	 * kept after its grant, unless the body throws. A {@link LockRegistry} refuses it;
	 * use {@link Lease#holdAtLeast} there.
	 * @param holdAtLeast the time, 10 ms to 365 days
	 */
	public LockRequest withHoldAtLeast(Duration holdAtLeast) {
		return new LockRequest(this.key, this.mode, this.waitTime, this.leaseTime, holdAtLeast, this.owner);
	}

	LockRequest withoutHoldAtLeast() {
		return new LockRequest(this.key, this.mode, this.waitTime, this.leaseTime, null, this.owner);
	}

	/**
	 * Return this request in another mode.
	 * @param mode the mode in which to acquire the lock
	 */
	public LockRequest withMode(LockMode mode) {
		return new LockRequest(this.key, mode, this.waitTime, this.leaseTime, this.holdAtLeast, this.owner);
	}

	/**
	 * Return this request for another lock.
	 * @param key which lock
	 */
	public LockRequest withKey(LockKey key) {
		return new LockRequest(key, this.mode, this.waitTime, this.leaseTime, this.holdAtLeast, this.owner);
	}

	/**
	 * Return this request on behalf of an owner, in place of the current thread. A
	 * further acquisition of the lock by the same owner is a nested one on any thread: it
	 * succeeds at once and shares the lease of the outer one. The outer lease may be
	 * closed first.
	 *
	 * <p>
	 * Use it for work that moves between threads. Such a lease takes part in no
	 * transaction of the current thread.
	 * @param owner an object with {@code equals} and {@code hashCode} that stands for one
	 * piece of work, such as an object in the context of a reactive chain; not a thread
	 */
	@Override
	public LockRequest withOwner(Object owner) {
		return new LockRequest(this.key, this.mode, this.waitTime, this.leaseTime, this.holdAtLeast, owner);
	}

	/**
	 * Check a time for which a lock is held.
	 */
	static void requireLength(String name, @Nullable Duration time) {
		if (time != null && (time.compareTo(MIN_LEASE_TIME) < 0 || time.compareTo(MAX_LEASE_TIME) > 0)) {
			throw new IllegalArgumentException("'" + name + "' must be from " + MIN_LEASE_TIME.toMillis() + " ms to "
					+ MAX_LEASE_TIME.toDays() + " days, but was " + time);
		}
	}

	/**
	 * Return a wait time that can be counted in nanoseconds.
	 * @throws IllegalArgumentException if it is negative
	 */
	static Duration limited(Duration waitTime) {
		if (waitTime.isNegative()) {
			throw new IllegalArgumentException("'waitTime' must not be negative, but was " + waitTime);
		}
		return (waitTime.compareTo(FOREVER) > 0) ? FOREVER : waitTime;
	}

}
