// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DefaultValue;

import io.github.lockstarter.store.Rule;

/**
 * Settings of the ZooKeeper store.
 *
 * @param connectString Members of the ensemble, as in zk1:2181,zk2:2181,zk3:2181. Without
 * it, the locks use the only or the primary CuratorFramework bean of the application.
 * @param root Node under which all locks are kept.
 * @param sessionTimeout Session time-out to ask for; the locks of a crashed instance
 * expire after this time. The client of the application has its own.
 * @param requestTimeout Longest time to wait for an answer.
 */
public record ZooKeeperLockProperties(@Nullable String connectString, @DefaultValue("/distributed-locks") String root,
		@DefaultValue("30s") Duration sessionTimeout, @DefaultValue("3s") Duration requestTimeout) {

	private static final Pattern ROOT = Pattern.compile("(/[A-Za-z0-9._-]*[A-Za-z0-9_-])+");

	public ZooKeeperLockProperties {
		PropertyChecks.require(ROOT.matcher(root).matches() && !(root + "/").startsWith("/zookeeper/"),
				"zookeeper.root", root, "It has to be a path of its own, as in /distributed-locks.");
		PropertyChecks.require("zookeeper.session-timeout", sessionTimeout, Rule.POSITIVE);
		PropertyChecks.require("zookeeper.request-timeout", requestTimeout, Rule.POSITIVE);
	}

}
