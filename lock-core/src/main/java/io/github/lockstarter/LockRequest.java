// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * A request for one lock, for a {@link LockRegistry} or a {@link LockTemplate}: which
 * lock, and how. Immutable; each {@code with…} method returns a changed request. What a
 * request leaves open is decided by the {@linkplain LockSettings settings} of the lock's
 * name, and then by the defaults of the registry.
 *
 * <pre class="code">
 * LockRequest request = LockRequest.of("stock", productId).withWaitTime(Duration.ofSeconds(3));
 * </pre>
 *
 * Several locks that are acquired together are a collection of requests.
 */
public final class LockRequest {

	/**
	 * A wait time without an end.
	 */
	public static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

	static final Duration MIN_LEASE_TIME = Duration.ofMillis(10);

	static final Duration MAX_LEASE_TIME = Duration.ofDays(365);

	private final LockKey key;

	private final LockMode mode;

	private final @Nullable Duration waitTime;

	private final @Nullable Duration leaseTime;

	private final @Nullable Duration holdAtLeast;

	private final @Nullable Duration holdAtMost;

	private final @Nullable Object owner;

	/** No part of what is asked for, and therefore of equality and text. */
	private final @Nullable Body body;

	private LockRequest(LockKey key, LockMode mode, @Nullable Duration waitTime, @Nullable Duration leaseTime,
			@Nullable Duration holdAtLeast, @Nullable Duration holdAtMost, @Nullable Object owner,
			@Nullable Body body) {
		requireOneLimit(leaseTime, holdAtMost);
		if (holdAtLeast != null && mode == LockMode.READ) {
			throw new IllegalArgumentException("'holdAtLeast' is not possible in mode " + mode
					+ ": one of several owners cannot keep a shared lock");
		}
		this.key = key;
		this.mode = mode;
		this.waitTime = waitTime;
		this.leaseTime = leaseTime;
		this.holdAtLeast = holdAtLeast;
		this.holdAtMost = holdAtMost;
		this.owner = owner;
		this.body = body;
	}

	/**
	 * Return a request for a lock with the registry's defaults.
	 * @param key which lock
	 */
	public static LockRequest of(LockKey key) {
		return new LockRequest(key, LockMode.EXCLUSIVE, null, null, null, null, null, null);
	}

	/**
	 * Return a request for the single lock of a name that has no keys, with the
	 * registry's defaults.
	 * @param name the name of what is guarded
	 * @throws IllegalArgumentException if it is not a name
	 * @see LockKey#of(String)
	 */
	public static LockRequest of(String name) {
		return of(LockKey.of(name));
	}

	/**
	 * Return a request for a lock with the registry's defaults.
	 * @param name the name of what is guarded
	 * @param key the key within the name
	 * @throws IllegalArgumentException if the name or key cannot be used
	 * @see LockKey#of(String, Object)
	 */
	public static LockRequest of(String name, Object key) {
		return of(LockKey.of(name, key));
	}

	/**
	 * Return this request for another lock.
	 * @param key which lock
	 */
	public LockRequest withKey(LockKey key) {
		return new LockRequest(key, this.mode, this.waitTime, this.leaseTime, this.holdAtLeast, this.holdAtMost,
				this.owner, this.body);
	}

	/**
	 * Return this request in another mode.
	 * @param mode the mode in which to acquire the lock
	 * @throws IllegalArgumentException if this request has a time to hold the lock at
	 * least, and the mode is shared
	 */
	public LockRequest withMode(LockMode mode) {
		return new LockRequest(this.key, mode, this.waitTime, this.leaseTime, this.holdAtLeast, this.holdAtMost,
				this.owner, this.body);
	}

	/**
	 * Return this request with another wait time.
	 * @param waitTime how long to wait at most; zero to not wait
	 * @throws IllegalArgumentException if it is negative
	 */
	public LockRequest withWaitTime(Duration waitTime) {
		return new LockRequest(this.key, this.mode, limited(waitTime), this.leaseTime, this.holdAtLeast,
				this.holdAtMost, this.owner, this.body);
	}

	/**
	 * Return this request with a fixed lease time. The lock is lost if it is not released
	 * before. A lease that is meant to expire need not be closed.
	 * @param leaseTime length of the lease, 10 ms to 365 days
	 * @throws IllegalArgumentException if it is shorter or longer, or this request has a
	 * time to hold the lock at most
	 */
	public LockRequest withLeaseTime(Duration leaseTime) {
		requireLength("leaseTime", leaseTime);
		return new LockRequest(this.key, this.mode, this.waitTime, leaseTime, this.holdAtLeast, this.holdAtMost,
				this.owner, this.body);
	}

	/**
	 * Return this request, for a {@link LockTemplate}, with a time for which the lock is
	 * kept after its grant, unless the body throws. A {@link LockRegistry} refuses it;
	 * use {@link Lease#holdAtLeast} there.
	 * @param holdAtLeast the time, 10 ms to 365 days
	 * @throws IllegalArgumentException if it is shorter or longer, or the mode is shared
	 */
	public LockRequest withHoldAtLeast(Duration holdAtLeast) {
		requireLength("holdAtLeast", holdAtLeast);
		return new LockRequest(this.key, this.mode, this.waitTime, this.leaseTime, holdAtLeast, this.holdAtMost,
				this.owner, this.body);
	}

	/**
	 * Return this request with a limit for a lease that is renewed. The lock is lost if
	 * it is not released within this time after its grant; if this instance crashes, it
	 * is free after one lease, as ever. Nested acquisitions share the limit of the outer
	 * one, and their own is not applied.
	 * @param holdAtMost the time, 10 ms to 365 days
	 * @throws IllegalArgumentException if it is shorter or longer, or this request has a
	 * fixed lease time, which is such a limit already
	 */
	public LockRequest withHoldAtMost(Duration holdAtMost) {
		requireLength("holdAtMost", holdAtMost);
		return new LockRequest(this.key, this.mode, this.waitTime, this.leaseTime, this.holdAtLeast, holdAtMost,
				this.owner, this.body);
	}

	/**
	 * Return this request for a registry, without the time to hold the lock at least: a
	 * registry does not know whether a body succeeds.
	 */
	LockRequest forBody(Body body) {
		return new LockRequest(this.key, this.mode, this.waitTime, this.leaseTime, null, this.holdAtMost, this.owner,
				body);
	}

	/**
	 * Return this request on behalf of an owner, in place of the current thread. A
	 * further acquisition of the lock by the same owner is a nested one on any thread: it
	 * succeeds at once and shares the lease of the outer one. The outer lease may be
	 * closed first. Requests of one owner that wait at the same time are all granted with
	 * the first of them.
	 *
	 * <p>
	 * Use it for work that moves between threads. Such a lease takes part in no
	 * transaction of the current thread.
	 * @param owner an object whose {@code equals} and {@code hashCode} do not change, for
	 * one piece of work, such as an object in the context of a reactive chain; a text, a
	 * number or a UUID names it in warnings and lists, and another object's class does
	 * @throws IllegalArgumentException if it is a thread
	 */
	public LockRequest withOwner(Object owner) {
		if (owner instanceof Thread) {
			throw new IllegalArgumentException(
					"'owner' must not be a thread; without an owner the current thread owns the lock");
		}
		return new LockRequest(this.key, this.mode, this.waitTime, this.leaseTime, this.holdAtLeast, this.holdAtMost,
				owner, this.body);
	}

	/**
	 * Return which lock is requested.
	 */
	public LockKey key() {
		return this.key;
	}

	/**
	 * Return the mode in which the lock is acquired.
	 */
	public LockMode mode() {
		return this.mode;
	}

	/**
	 * Return how long to wait for the lock at most; zero to not wait, {@code null} for
	 * the default.
	 */
	public @Nullable Duration waitTime() {
		return this.waitTime;
	}

	/**
	 * Return the fixed length of the lease, or {@code null} for one that is renewed.
	 */
	public @Nullable Duration leaseTime() {
		return this.leaseTime;
	}

	/**
	 * Return how long the lock is kept after its grant, even if the body of a
	 * {@link LockTemplate} returns earlier, or {@code null} to release it when the body
	 * ends.
	 */
	public @Nullable Duration holdAtLeast() {
		return this.holdAtLeast;
	}

	/**
	 * Return how long after its grant a lease is renewed at most, or {@code null} for one
	 * that is renewed until it is closed.
	 */
	public @Nullable Duration holdAtMost() {
		return this.holdAtMost;
	}

	/**
	 * Return the owner of the lease. If it is {@code null}, the current thread is the
	 * owner, or the lease itself if the lock is acquired asynchronously.
	 */
	public @Nullable Object owner() {
		return this.owner;
	}

	/**
	 * Return the body that the lock guards if a {@link LockTemplate} or an annotated
	 * method requests it, or {@code null}. For registries that wrap another one and take
	 * transactions into account; requests that differ in this only are equal.
	 */
	public @Nullable Body body() {
		return this.body;
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof LockRequest request && this.key.equals(request.key) && this.mode == request.mode
				&& Objects.equals(this.waitTime, request.waitTime) && Objects.equals(this.leaseTime, request.leaseTime)
				&& Objects.equals(this.holdAtLeast, request.holdAtLeast)
				&& Objects.equals(this.holdAtMost, request.holdAtMost) && Objects.equals(this.owner, request.owner);
	}

	@Override
	public int hashCode() {
		return Objects.hash(this.key, this.mode, this.waitTime, this.leaseTime, this.holdAtLeast, this.holdAtMost,
				this.owner);
	}

	@Override
	public String toString() {
		StringBuilder text = new StringBuilder("LockRequest[key=").append(this.key).append(", mode=").append(this.mode);
		append(text, "waitTime", this.waitTime);
		append(text, "leaseTime", this.leaseTime);
		append(text, "holdAtLeast", this.holdAtLeast);
		append(text, "holdAtMost", this.holdAtMost);
		append(text, "owner", this.owner);
		return text.append(']').toString();
	}

	private static void append(StringBuilder text, String name, @Nullable Object value) {
		if (value != null) {
			text.append(", ").append(name).append('=').append(value);
		}
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
	 * Check that a hold has one limit at most.
	 */
	static void requireOneLimit(@Nullable Duration leaseTime, @Nullable Duration holdAtMost) {
		if (leaseTime != null && holdAtMost != null) {
			throw new IllegalArgumentException("'holdAtMost' is for leases that are renewed, so it is not possible with"
					+ " a fixed 'leaseTime', which is such a limit already");
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

	/**
	 * A body that runs under its locks. Their leases are closed on the thread that
	 * acquired them, as soon as the body has returned; those of a future when the future
	 * of the body is done, on any thread.
	 *
	 * @param onLost the reaction to the loss of a lock, never {@code DEFAULT}
	 * @param transactionFencing whether transactions claim the fencing token
	 * @param skips whether the caller goes on without the body if the lock is contended,
	 * as with {@link OnContention#SKIP}
	 */
	public record Body(OnLost onLost, TransactionFencing transactionFencing, boolean skips) {
	}

}
