// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.List;

import org.springframework.boot.context.properties.bind.DefaultValue;

import io.github.lockstarter.store.Rule;

/**
 * Settings of the Redlock store.
 *
 * @param nodes Independent Redis servers, at least three and an odd number, each as
 * host:port or as a URI such as rediss://user:password@host:port.
 * @param nodeTimeout Longest time to wait for a server if the others do not decide.
 * @param restartDelay How long a server has no vote after its start, because it may have
 * forgotten locks; no grant counts for longer. 0s if each server keeps every lock when it
 * is restarted.
 * @param fenceRetention How long the last fencing token of an idle lock is kept. At least
 * the lease time.
 */
public record RedlockProperties(@DefaultValue List<String> nodes, @DefaultValue("200ms") Duration nodeTimeout,
		@DefaultValue("60s") Duration restartDelay, @DefaultValue("24h") Duration fenceRetention) {

	public RedlockProperties {
		PropertyChecks.require("redlock.node-timeout", nodeTimeout, Rule.POSITIVE);
		PropertyChecks.require("redlock.restart-delay", restartDelay, Rule.NOT_NEGATIVE);
	}

}
