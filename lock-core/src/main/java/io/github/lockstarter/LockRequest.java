// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * What to ask a {@link LockRegistry} for: one lock, or several that are taken together or
 * not at all.
 *
 * @param key which lock; of several, the first one
 * @param mode how the lock is shared
 * @param waitTime how long to wait for it at most, zero for not at all, or {@code null}
 * for the registry's default
 * @param leaseTime fixed length of the lease, or {@code null} for one that is renewed
 * until it is closed
 * @param holdAtLeast how long the lock stays taken after its grant, even if the body of a
 * {@link LockTemplate} returns earlier, or {@code null} for no longer than it runs; see
 * {@link Lease#holdAtLeast}
 * @param others further locks; the wait time of the first one is that of all
 */
public record LockRequest(LockKey key, LockMode mode, @Nullable Duration waitTime, @Nullable Duration leaseTime,
		@Nullable Duration holdAtLeast, List<LockRequest> others) {

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

	/**
	 * Most locks that can be taken together.
	 */
	public static final int MAX_LOCKS = 1000;

	public LockRequest {
		others = others.stream().flatMap((other) -> other.all().stream()).toList();
		long locks = others.isEmpty() ? 1
				: Stream.concat(Stream.of(key), others.stream().map(LockRequest::key)).distinct().count();
		if (locks > MAX_LOCKS) {
			throw new IllegalArgumentException(
					"At most " + MAX_LOCKS + " locks can be taken together, but these are " + locks);
		}
		if (holdAtLeast != null
				&& (holdAtLeast.compareTo(MIN_LEASE_TIME) < 0 || holdAtLeast.compareTo(MAX_LEASE_TIME) > 0)) {
			throw new IllegalArgumentException("'holdAtLeast' must be from " + MIN_LEASE_TIME.toMillis() + " ms to "
					+ MAX_LEASE_TIME.toDays() + " days, but was " + holdAtLeast);
		}
		if (holdAtLeast != null && mode == LockMode.READ) {
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
		return new LockRequest(key, LockMode.EXCLUSIVE, null, null, null, List.of());
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
	 * Return a request for the locks of several keys within a name, with the registry's
	 * defaults.
	 * @param name the name of what is guarded
	 * @param keys the keys, at least one and at most {@value #MAX_LOCKS}
	 * @see LockKey#of(String, Object)
	 */
	public static LockRequest ofAll(String name, Collection<?> keys) {
		if (keys.isEmpty()) {
			throw new IllegalArgumentException("'keys' of the locks '" + name + "' must not be empty");
		}
		List<LockRequest> requests = keys.stream().map((key) -> of(name, key)).toList();
		return requests.get(0).and(requests.subList(1, requests.size()));
	}

	/**
	 * Return a request for this lock and another one. They are taken together or not at
	 * all, in an order that is the same in all instances, so that two requests for the
	 * same locks cannot wait for each other; a lock that is named twice is taken once, in
	 * the stronger mode. The {@link Lease} of the outcome consists of
	 * {@linkplain Lease#all() one for each lock}.
	 * @param other the other one; its wait time is not used
	 */
	public LockRequest and(LockRequest other) {
		return and(List.of(other));
	}

	/**
	 * Return a request for this lock and others.
	 * @param others the others; their wait times are not used
	 * @see #and(LockRequest)
	 */
	public LockRequest and(Collection<LockRequest> others) {
		List<LockRequest> all = new ArrayList<>(this.others);
		all.addAll(others);
		return new LockRequest(this.key, this.mode, this.waitTime, this.leaseTime, this.holdAtLeast, all);
	}

	/**
	 * Tell the lease of this request for how long its locks stay taken, before it is
	 * closed. {@link LockTemplate} does that by itself; it is for those who hold a lease
	 * in a way of their own.
	 * @param lease the lease
	 * @param successful whether what it was held for has succeeded; if not, the locks are
	 * free at once
	 */
	public void endHold(Lease lease, boolean successful) {
		HoldTimes.of(this).apply(lease, successful);
	}

	/**
	 * Return a request for each lock of this one.
	 */
	public List<LockRequest> all() {
		if (this.others.isEmpty()) {
			return List.of(this);
		}
		List<LockRequest> all = new ArrayList<>(this.others.size() + 1);
		all.add(new LockRequest(this.key, this.mode, this.waitTime, this.leaseTime, this.holdAtLeast, List.of()));
		all.addAll(this.others);
		return all;
	}

	/**
	 * Return this request with another wait time.
	 * @param waitTime how long to wait at most; zero for not at all
	 */
	public LockRequest withWaitTime(Duration waitTime) {
		return new LockRequest(this.key, this.mode, waitTime, this.leaseTime, this.holdAtLeast, this.others);
	}

	/**
	 * Return this request with a fixed lease time, after which the lock is lost if it was
	 * not given back. A lease that is meant to end by itself need not be closed.
	 * @param leaseTime length of the lease, 10 ms to 365 days
	 */
	public LockRequest withLeaseTime(Duration leaseTime) {
		return new LockRequest(this.key, this.mode, this.waitTime, leaseTime, this.holdAtLeast, this.others);
	}

	/**
	 * Return this request with a time for which the lock stays taken after its grant, if
	 * the body of a {@link LockTemplate} returns and does not throw.
	 * @param holdAtLeast the time, 10 ms to 365 days
	 */
	public LockRequest withHoldAtLeast(Duration holdAtLeast) {
		return new LockRequest(this.key, this.mode, this.waitTime, this.leaseTime, holdAtLeast, this.others);
	}

	/**
	 * Return this request in another mode.
	 * @param mode how the lock is shared
	 */
	public LockRequest withMode(LockMode mode) {
		return new LockRequest(this.key, mode, this.waitTime, this.leaseTime, this.holdAtLeast, this.others);
	}

	/**
	 * Return this request for another lock.
	 * @param key which lock
	 */
	public LockRequest withKey(LockKey key) {
		return new LockRequest(key, this.mode, this.waitTime, this.leaseTime, this.holdAtLeast, this.others);
	}

}
