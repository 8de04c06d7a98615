// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;

import org.apache.zookeeper.common.PathUtils;

import io.github.lockstarter.store.Rule;

/**
 * The settings of a {@link ZooKeeperLockStore}.
 *
 * @param root the node under which all locks are kept, such as {@code /distributed-locks}
 * @param sessionTimeout the session time-out to ask for, if the store opens its own
 * connection; the ensemble may grant a shorter or a longer one
 * @param requestTimeout how long to wait for an answer
 */
public record ZooKeeperLockSettings(String root, Duration sessionTimeout, Duration requestTimeout) {

	/**
	 * Defaults that suit most applications.
	 */
	public static final ZooKeeperLockSettings DEFAULTS = new ZooKeeperLockSettings("/distributed-locks",
			Duration.ofSeconds(30), Duration.ofSeconds(3));

	/**
	 * @throws IllegalArgumentException if the root is no path of a node, or a time is not
	 * positive
	 */
	public ZooKeeperLockSettings {
		PathUtils.validatePath(root);
		if (root.equals("/") || root.equals("/zookeeper") || root.startsWith("/zookeeper/")) {
			throw new IllegalArgumentException("'root' must be a node of its own, but was '" + root + "'");
		}
		Rule.POSITIVE.require("sessionTimeout", sessionTimeout);
		Rule.POSITIVE.require("requestTimeout", requestTimeout);
	}

}
