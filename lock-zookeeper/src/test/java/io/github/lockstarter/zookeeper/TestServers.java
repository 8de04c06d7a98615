// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.List;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

import io.github.lockstarter.engine.EngineSettings;

/**
 * Clients of real ZooKeeper servers.
 */
final class TestServers {

	/** A slow machine must not end a session, a renewal or a request. */
	static final ZooKeeperLockSettings PATIENT = new ZooKeeperLockSettings("/distributed-locks", Duration.ofSeconds(20),
			Duration.ofSeconds(20));

	/**
	 * Tests leave locks behind, for which no shutdown has to wait. An election, or a new
	 * session, may take longer than waiters tolerate by default. Between two of so many
	 * renewals a lease never gets much shorter, whenever the machine stands still.
	 */
	static final EngineSettings ENGINE = new EngineSettings(Duration.ofSeconds(30), Duration.ofSeconds(30), 20,
			EngineSettings.DEFAULTS.pollInterval(), EngineSettings.DEFAULTS.pollIntervalWithoutMessages(),
			EngineSettings.DEFAULTS.timeSlice(), Duration.ZERO, Duration.ofMinutes(1));

	private TestServers() {
	}

	/**
	 * Return the port of the only server of a connect string.
	 */
	static int port(String connectString) {
		return Integer.parseInt(connectString.split("[:/]")[1]);
	}

	static CuratorFramework connected(String connectString, ZooKeeperLockSettings settings) throws Exception {
		CuratorFramework client = ZooKeeperLockStore.client(connectString, settings);
		client.blockUntilConnected();
		return client;
	}

	static ZooKeeperLockStore store(CuratorFramework client) {
		return new ZooKeeperLockStore(client, PATIENT);
	}

	/**
	 * Return the address of a server as that of two. A client waits for a second before
	 * it connects to the same server again, but not before it connects to the next one.
	 */
	static String twice(String address) {
		return address + "," + address;
	}

	/**
	 * End the session of a client on the server, as if it had expired. The client learns
	 * of it with its next connection.
	 */
	static void endSession(CuratorFramework client, String connectString) throws Exception {
		ZooKeeper handle = client.getZookeeperClient().getZooKeeper();
		try (ZooKeeper duplicate = new ZooKeeper(connectString, 3000, (event) -> {
		}, handle.getSessionId(), handle.getSessionPasswd())) {
			while (duplicate.getState().isAlive() && !duplicate.getState().isConnected()) {
				Thread.onSpinWait();
			}
		}
	}

	/**
	 * Let a client learn of the end of its session now, and open the next one.
	 */
	static void learnOfTheEnd(CuratorFramework client) throws Exception {
		client.getZookeeperClient().getZooKeeper().getTestable().injectSessionExpiration();
	}

	/**
	 * Return the nodes in the line of a lock, which the server may remove when it is
	 * empty.
	 * @param path the path of the lock
	 */
	static List<String> nodes(CuratorFramework client, String path) throws Exception {
		try {
			return client.getChildren().forPath(path);
		}
		catch (KeeperException.NoNodeException ex) {
			return List.of();
		}
	}

}
