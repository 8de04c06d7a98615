// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.NameSettings;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnUnavailable;

/**
 * Settings of one lock name.
 *
 * @param store Name of the store that keeps the locks.
 * @param waitTime Longest time to wait for a lock. 0s does not wait.
 * @param leaseTime Fixed length of a lease, from 10ms to 365d; the lock is lost if its
 * owner takes longer. Without it, leases are renewed.
 * @param holdAtLeast How long a lock is kept after its grant, from 10ms to 365d, for
 * annotated methods and LockTemplate.
 * @param onContention What annotated methods do if another owner holds the lock for the
 * whole wait time.
 * @param onUnavailable What annotated methods do if the store cannot be asked.
 * @param onLost What to do if the lock is lost while its body runs.
 */
public record NamedLock(@Nullable String store, @Nullable Duration waitTime, @Nullable Duration leaseTime,
		@Nullable Duration holdAtLeast, @DefaultValue("default") OnContention onContention,
		@DefaultValue("default") OnUnavailable onUnavailable, @DefaultValue("default") OnLost onLost) {

	private static final String LENGTH = "It has to be from 10ms to 365d.";

	/**
	 * Check the settings of a name, which only then is known.
	 */
	static void check(String name, NamedLock lock) {
		try {
			LockKey.of(name);
		}
		catch (IllegalArgumentException ex) {
			Property.require(false, "locks[" + name + "]", name, ex.getMessage() + ".");
		}
		lock.requireValid(name);
	}

	private void requireValid(String name) {
		if (this.store != null) {
			Property.require(!this.store.isBlank(), Property.ofLock(name, "store"), this.store,
					"It must not be blank.");
		}
		if (this.waitTime != null) {
			Property.require(!this.waitTime.isNegative(), Property.ofLock(name, "wait-time"), this.waitTime,
					"It must not be negative; 0s does not wait.");
		}
		requireLength(Property.ofLock(name, "lease-time"), this.leaseTime);
		requireLength(Property.ofLock(name, "hold-at-least"), this.holdAtLeast);
	}

	private static void requireLength(String property, @Nullable Duration time) {
		if (time != null) {
			Property.require(
					time.compareTo(LockRequest.MIN_LEASE_TIME) >= 0 && time.compareTo(LockRequest.MAX_LEASE_TIME) <= 0,
					property, time, LENGTH);
		}
	}

	NameSettings settings() {
		return new NameSettings(this.store, this.waitTime, this.leaseTime, this.holdAtLeast, this.onContention,
				this.onUnavailable, this.onLost);
	}

}
