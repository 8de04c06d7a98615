// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnUnavailable;

/**
 * Settings of one lock name.
 *
 * @param waitTime Longest time to wait for a lock. 0s does not wait.
 * @param leaseTime Fixed length of a lease, from 10ms to 365d; the lock is lost if its
 * owner takes longer. Without it, leases are renewed.
 * @param holdAtLeast How long a lock is kept after its grant, from 10ms to 365d, for
 * annotated methods and LockTemplate.
 * @param holdAtMost How long after its grant a lease is renewed at most, from 10ms to
 * 365d. Not with lease-time.
 * @param onContention What annotated methods do if another owner holds the lock for the
 * whole wait time.
 * @param onUnavailable What annotated methods do if the store cannot be asked.
 * @param onLost What to do if the lock is lost while its body runs.
 */
public record LockNameProperties(@Nullable Duration waitTime, @Nullable Duration leaseTime,
		@Nullable Duration holdAtLeast, @Nullable Duration holdAtMost,
		@DefaultValue("default") OnContention onContention, @DefaultValue("default") OnUnavailable onUnavailable,
		@DefaultValue("default") OnLost onLost) {

	/**
	 * Return these settings.
	 * @param name the lock name
	 * @throws InvalidConfigurationPropertyValueException if the name or one of its
	 * settings is invalid
	 */
	LockSettings.ForName settings(String name) {
		String property = PropertyChecks.ofLock(name);
		require(property, name, LockRequest::of);
		LockRequest request = LockRequest.of(name);
		require(property + ".wait-time", this.waitTime, request::withWaitTime);
		require(property + ".lease-time", this.leaseTime, request::withLeaseTime);
		require(property + ".hold-at-least", this.holdAtLeast, request::withHoldAtLeast);
		LockRequest fixed = (this.leaseTime != null) ? request.withLeaseTime(this.leaseTime) : request;
		require(property + ".hold-at-most", this.holdAtMost, fixed::withHoldAtMost);
		return new LockSettings.ForName(this.waitTime, this.leaseTime, this.holdAtLeast, this.holdAtMost,
				this.onContention, this.onUnavailable, this.onLost);
	}

	private static <T> void require(String property, @Nullable T value, Function<T, LockRequest> request) {
		try {
			if (value != null) {
				request.apply(value);
			}
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidConfigurationPropertyValueException("distributed-lock." + property, value,
					ex.getMessage() + ".");
		}
	}

}
