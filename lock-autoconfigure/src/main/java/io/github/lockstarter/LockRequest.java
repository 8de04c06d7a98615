// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What to ask a {@link LockRegistry} for.
 *
 * @param key which lock
 * @param mode how the lock is shared
 * @param waitTime how long to wait for it at most, zero for not at all, or {@code null}
 * for the registry's default
 * @param leaseTime fixed length of the lease, or {@code null} for one that is renewed
 * until it is closed
 * @param holdAtLeast how long the lock stays taken after its grant, even if the body of a
 * {@link LockTemplate} returns earlier, or {@code null} for no longer than it runs; see
 * {@link Lease#holdAtLeast}
 */
public record LockRequest(LockKey key, LockMode mode, @Nullable Duration waitTime, @Nullable Duration leaseTime,
		@Nullable Duration holdAtLeast) {

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
		if (holdAtLeast != null
				&& (holdAtLeast.compareTo(MIN_LEASE_TIME) < 0 || holdAtLeast.compareTo(MAX_LEASE_TIME) > 0)) {
			throw new IllegalArgumentException("'holdAtLeast' must be from " + MIN_LEASE_TIME.toMillis() + " ms to "
					+ MAX_LEASE_TIME.toDays() + " days, but was " + holdAtLeast);
		}
		if (holdAtLeast != null && mode.isShared()) {
			throw new IllegalArgumentException("'holdAtLeast' is not possible in mode " + mode
					+ ": a lock that is shared cannot stay taken by one of its owners");
		}
		if (waitTime != null && waitTime.isNegative()) {
			throw new IllegalArgumentException("'waitTime' must not be negative, but was " + waitTime);
		}
		if (waitTime != null && waitTime.compareTo(FOREVER) > 0) {
			waitTime = FOREVER;
		}
		if (leaseTime != null && (leaseTime.compareTo(MIN_LEASE_TIME) < 0 || leaseTime.compareTo(MAX_LEASE_TIME) > 0)) {
			throw new IllegalArgumentException("'leaseTime' must be from " + MIN_LEASE_TIME.toMillis() + " ms to "
					+ MAX_LEASE_TIME.toDays() + " days, but was " + leaseTime);
		}
	}

	/**
	 * Return a request for a lock with the registry's defaults.
	 * @param key which lock
	 */
	public static LockRequest of(LockKey key) {
		return new LockRequest(key, LockMode.EXCLUSIVE, null, null, null);
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

	/**
	 * Return this request with another wait time.
	 * @param waitTime how long to wait at most; zero for not at all
	 */
	public LockRequest withWaitTime(Duration waitTime) {
		return new LockRequest(this.key, this.mode, waitTime, this.leaseTime, this.holdAtLeast);
	}

	/**
	 * Return this request with a fixed lease time, after which the lock is lost if it was
	 * not given back.
	 * @param leaseTime length of the lease, 10 ms to 365 days
	 */
	public LockRequest withLeaseTime(Duration leaseTime) {
		return new LockRequest(this.key, this.mode, this.waitTime, leaseTime, this.holdAtLeast);
	}

	/**
	 * Return this request with a time for which the lock stays taken after its grant, if
	 * the body of a {@link LockTemplate} returns and does not throw.
	 * @param holdAtLeast the time, 10 ms to 365 days
	 */
	public LockRequest withHoldAtLeast(Duration holdAtLeast) {
		return new LockRequest(this.key, this.mode, this.waitTime, this.leaseTime, holdAtLeast);
	}

	/**
	 * Return this request in another mode.
	 * @param mode how the lock is shared
	 */
	public LockRequest withMode(LockMode mode) {
		return new LockRequest(this.key, mode, this.waitTime, this.leaseTime, this.holdAtLeast);
	}

	/**
	 * Return this request for another lock.
	 * @param key which lock
	 */
	public LockRequest withKey(LockKey key) {
		return new LockRequest(key, this.mode, this.waitTime, this.leaseTime, this.holdAtLeast);
	}

}
