// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What to ask a {@link LockRegistry} for.
 *
 * @param key which lock
 * @param waitTime how long to wait for it at most, zero for not at all, or {@code null}
 * for the registry's default
 * @param leaseTime fixed length of the lease, or {@code null} for one that is renewed
 * until it is closed
 */
public record LockRequest(LockKey key, @Nullable Duration waitTime, @Nullable Duration leaseTime) {

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
		return new LockRequest(key, null, null);
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
		return new LockRequest(this.key, waitTime, this.leaseTime);
	}

	/**
	 * Return this request with a fixed lease time, after which the lock is lost if it was
	 * not given back.
	 * @param leaseTime length of the lease, 10 ms to 365 days
	 */
	public LockRequest withLeaseTime(Duration leaseTime) {
		return new LockRequest(this.key, this.waitTime, leaseTime);
	}

}
