// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.util.ServiceUtils;

import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.testsupport.ServerPort;

/**
 * Real ZooKeeper servers with short ticks, so that short sessions are allowed.
 */
final class TestServers {

	static final int TICK_MILLIS = 200;

	static final ZooKeeperLockSettings SETTINGS = new ZooKeeperLockSettings("/distributed-locks", Duration.ofSeconds(3),
			Duration.ofSeconds(3));

	/** A slow machine must not end a session or a renewal. */
	static final ZooKeeperLockSettings PATIENT = new ZooKeeperLockSettings("/distributed-locks", Duration.ofSeconds(20),
			Duration.ofSeconds(3));

	/**
	 * Tests leave locks behind, for which no shutdown has to wait. An election, or a new
	 * session, may take longer than waiters tolerate by default. Between two of so many
	 * renewals a lease never gets much shorter, whenever the machine stands still.
	 */
	static final EngineSettings ENGINE = new EngineSettings(Duration.ofSeconds(30), Duration.ofSeconds(30),
			EngineSettings.MAX_RENEWALS_PER_LEASE, EngineSettings.DEFAULTS.pollInterval(),
			EngineSettings.DEFAULTS.pollIntervalWithoutMessages(), EngineSettings.DEFAULTS.timeSlice(), Duration.ZERO,
			Duration.ofSeconds(30));

	/** Members that are slow to answer each other stay together. */
	static final Map<String, Object> PATIENT_MEMBERS = Map.of("syncLimit", "50");

	static {
		// A server that cannot start must not end the JVM of the tests
		ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
		// The machine does not fail in these tests, and its disk may be slow
		System.setProperty("zookeeper.forceSync", "no");
	}

	private TestServers() {
	}

	static TestingServer start() throws Exception {
		return new TestingServer(spec(Map.of()), true);
	}

	static TestingCluster startThree() throws Exception {
		TestingCluster cluster = new TestingCluster(Stream.generate(() -> spec(PATIENT_MEMBERS)).limit(3).toList());
		cluster.start();
		return cluster;
	}

	/**
	 * Describe a new server.
	 * @param properties settings of the server besides those that all have
	 */
	static InstanceSpec spec(Map<String, Object> properties) {
		Map<String, Object> all = new HashMap<>(properties);
		all.put("maxSessionTimeout", "20000");
		return new InstanceSpec(null, ServerPort.find(), ServerPort.find(), ServerPort.find(), true, -1, TICK_MILLIS,
				-1, all);
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
		return new ZooKeeperLockStore(client, SETTINGS);
	}

	/**
	 * End the session of a client on the server, as if it had expired.
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
	 * Return the nodes in the line of a lock.
	 * @param path the path of the lock
	 */
	static List<String> nodes(CuratorFramework client, String path) throws Exception {
		return (client.checkExists().forPath(path) != null) ? client.getChildren().forPath(path) : List.of();
	}

}
