// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The settings of one lock name. Each of them applies to the locks of that name where an
 * annotation or a request leaves it open.
 *
 * @param waitTime how long to wait at most, or {@code null} for the default
 * @param leaseTime fixed length of the lease, or {@code null} for one that is renewed. A
 * {@link java.util.concurrent.locks.Lock} of a registry is always renewed
 * @param holdAtLeast how long the lock is kept after its grant, or {@code null} to
 * release it when the body ends; for annotated methods and {@link LockTemplate}
 * @param onContention the reaction of annotated methods to contention
 * @param onUnavailable the reaction of annotated methods to an outage
 * @param onLost the reaction of annotated methods and of {@link LockTemplate} to a loss
 * @see LockSettings
 */
public record NameSettings(@Nullable Duration waitTime, @Nullable Duration leaseTime, @Nullable Duration holdAtLeast,
		OnContention onContention, OnUnavailable onUnavailable, OnLost onLost) {

	/**
	 * Settings that leave everything open.
	 */
	public static final NameSettings NONE = new NameSettings(null, null, null, OnContention.DEFAULT,
			OnUnavailable.DEFAULT, OnLost.DEFAULT);

	public NameSettings {
		LockRequest.requireLength("leaseTime", leaseTime);
		LockRequest.requireLength("holdAtLeast", holdAtLeast);
		waitTime = (waitTime != null) ? LockRequest.limited(waitTime) : null;
	}

	/**
	 * Return these settings with another wait time.
	 * @param waitTime how long to wait at most; zero to not wait
	 */
	public NameSettings withWaitTime(Duration waitTime) {
		return new NameSettings(waitTime, this.leaseTime, this.holdAtLeast, this.onContention, this.onUnavailable,
				this.onLost);
	}

	/**
	 * Return these settings with a fixed lease time.
	 * @param leaseTime length of the lease, 10 ms to 365 days
	 */
	public NameSettings withLeaseTime(Duration leaseTime) {
		return new NameSettings(this.waitTime, leaseTime, this.holdAtLeast, this.onContention, this.onUnavailable,
				this.onLost);
	}

	/**
	 * Return these settings with a time for which the lock is kept after its grant.
	 * @param holdAtLeast the time, 10 ms to 365 days
	 */
	public NameSettings withHoldAtLeast(Duration holdAtLeast) {
		return new NameSettings(this.waitTime, this.leaseTime, holdAtLeast, this.onContention, this.onUnavailable,
				this.onLost);
	}

	/**
	 * Return these settings with other reactions.
	 * @param onContention the reaction to contention
	 * @param onUnavailable the reaction to an outage
	 * @param onLost the reaction to a loss
	 */
	public NameSettings withReactions(OnContention onContention, OnUnavailable onUnavailable, OnLost onLost) {
		return new NameSettings(this.waitTime, this.leaseTime, this.holdAtLeast, onContention, onUnavailable, onLost);
	}

	/**
	 * Fill in what a request leaves open, except the wait time, which is one for all
	 * locks of a set.
	 * @param body whether the lock is for a body, whose end is known
	 */
	LockRequest fill(LockRequest request, boolean body) {
		LockRequest filled = request;
		if (filled.leaseTime() == null && this.leaseTime != null) {
			filled = filled.withLeaseTime(this.leaseTime);
		}
		if (body && filled.holdAtLeast() == null && this.holdAtLeast != null) {
			filled = filled.withHoldAtLeast(this.holdAtLeast);
		}
		return filled;
	}

}
