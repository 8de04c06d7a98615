// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * The settings of lock names. What an annotation or a request says comes first, then the
 * settings of its name, then the defaults. With Spring Boot they are the properties
 * {@code distributed-lock.locks.<name>}; in other applications, declare a bean of this
 * type, or pass one to {@code DefaultLockRegistry}.
 *
 * <p>
 * Where locks of several names are acquired together, the stricter setting counts: the
 * shortest wait time, {@link OnLost#INTERRUPT} before {@link OnLost#THROW} before
 * {@link OnLost#LOG}, and {@code SKIP} or {@code FALLBACK} only if all names agree on it.
 *
 * @param names the settings by lock name; a name that is missing has none
 */
public record LockSettings(Map<String, ForName> names) {

	/**
	 * No settings for any name.
	 */
	public static final LockSettings NONE = new LockSettings(Map.of());

	/**
	 * @throws IllegalArgumentException if a name is not one of a lock
	 */
	public LockSettings {
		names.keySet().forEach(LockKey::of);
		names = Map.copyOf(names);
	}

	/**
	 * Return the settings of a name.
	 * @param name the name
	 */
	public ForName get(String name) {
		return this.names.getOrDefault(name, ForName.NONE);
	}

	/**
	 * Return a request with the lease time or the longest hold of its name, unless it has
	 * one of the two itself.
	 * @param request the request
	 */
	public LockRequest limit(LockRequest request) {
		ForName ofName = get(request.key().name());
		if (request.leaseTime() != null || request.holdAtMost() != null) {
			return request;
		}
		if (ofName.leaseTime != null) {
			return request.withLeaseTime(ofName.leaseTime);
		}
		return (ofName.holdAtMost != null) ? request.withHoldAtMost(ofName.holdAtMost) : request;
	}

	/**
	 * Return how long the lock of a body is kept.
	 * @throws IllegalArgumentException if the setting does not fit the mode of the
	 * request
	 */
	@Nullable Duration holdAtLeast(LockRequest request) {
		Duration ofName = get(request.key().name()).holdAtLeast;
		return (request.holdAtLeast() != null || ofName == null) ? request.holdAtLeast()
				: request.withHoldAtLeast(ofName).holdAtLeast();
	}

	/**
	 * Return the reaction to the loss of a lock.
	 */
	OnLost onLost(LockRequest request) {
		OnLost onLost = get(request.key().name()).onLost;
		return (onLost != OnLost.DEFAULT) ? onLost : OnLost.THROW;
	}

	/**
	 * Return the reaction to the loss of one of several locks.
	 */
	OnLost onLost(Collection<LockRequest> requests) {
		OnLost strictest = OnLost.LOG;
		for (LockRequest each : requests) {
			OnLost onLost = onLost(each);
			if (onLost == OnLost.INTERRUPT) {
				return onLost;
			}
			strictest = (onLost == OnLost.LOG) ? strictest : onLost;
		}
		return strictest;
	}

	/**
	 * The settings of one lock name. Each of them applies to the locks of that name where
	 * an annotation or a request leaves it open.
	 *
	 * @param waitTime how long to wait at most, zero to not wait, or {@code null} for the
	 * default
	 * @param leaseTime fixed length of the lease, 10 ms to 365 days, or {@code null} for
	 * one that is renewed
	 * @param holdAtLeast how long the lock is kept after its grant, 10 ms to 365 days, or
	 * {@code null} to release it when the body ends; for annotated methods and
	 * {@link LockTemplate}
	 * @param holdAtMost how long after its grant a lease is renewed at most, 10 ms to 365
	 * days, or {@code null} for one that is renewed until it is closed; not with
	 * {@code leaseTime}
	 * @param onContention the reaction of annotated methods to contention
	 * @param onUnavailable the reaction of annotated methods to an outage
	 * @param onLost the reaction of annotated methods and of {@link LockTemplate} to a
	 * loss
	 */
	public record ForName(@Nullable Duration waitTime, @Nullable Duration leaseTime, @Nullable Duration holdAtLeast,
			@Nullable Duration holdAtMost, OnContention onContention, OnUnavailable onUnavailable, OnLost onLost) {

		/**
		 * Settings that leave everything open.
		 */
		public static final ForName NONE = new ForName(null, null, null, null, OnContention.DEFAULT,
				OnUnavailable.DEFAULT, OnLost.DEFAULT);

		/**
		 * @throws IllegalArgumentException if a time is negative, too short or too long,
		 * or there are both a lease time and a longest hold
		 */
		public ForName {
			LockRequest.requireLength("leaseTime", leaseTime);
			LockRequest.requireLength("holdAtLeast", holdAtLeast);
			LockRequest.requireLength("holdAtMost", holdAtMost);
			LockRequest.requireOneLimit(leaseTime, holdAtMost);
			waitTime = (waitTime != null) ? LockRequest.limited(waitTime) : null;
		}

	}

}
