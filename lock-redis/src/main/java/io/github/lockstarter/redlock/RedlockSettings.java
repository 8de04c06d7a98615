// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;

import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.Rule;

/**
 * The settings of a {@link RedlockStore}. All instances of an application must have the
 * same ones.
 *
 * @param prefix the beginning of every key
 * @param fenceRetention how long the last fencing token of an idle lock is remembered;
 * must be longer than any lease
 * @param nodeTimeout how long to wait for a server, if the others do not decide; at most
 * a third of a lease
 * @param restartDelay how long a server has no vote after its start, because it may have
 * forgotten locks; a lease that is longer is renewed within that time. When all servers
 * are started, no lock is granted for that time. Zero if each server keeps every lock
 * when it is restarted, as with {@code appendfsync always}
 */
public record RedlockSettings(String prefix, Duration fenceRetention, Duration nodeTimeout, Duration restartDelay) {

	/**
	 * Defaults that suit most applications.
	 */
	public static final RedlockSettings DEFAULTS = new RedlockSettings("lock:", Duration.ofHours(24),
			Duration.ofMillis(200), Duration.ofSeconds(60));

	/**
	 * @throws IllegalArgumentException if the timeout is not positive, or the delay is
	 * negative
	 */
	public RedlockSettings {
		Rule.POSITIVE.require("nodeTimeout", nodeTimeout);
		Rule.NOT_NEGATIVE.require("restartDelay", restartDelay);
	}

	Duration longestLease() {
		return this.restartDelay.isZero() ? LockStore.LONGEST_LEASE : this.restartDelay;
	}

}
