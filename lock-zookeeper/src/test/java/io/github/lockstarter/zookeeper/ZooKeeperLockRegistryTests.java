// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockRegistryTests;
import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * Instances with sessions of their own on one server, and on an ensemble.
 */
class ZooKeeperLockRegistryTests {

	@Nested
	class OnOneServer extends AbstractLockRegistryTests {

		@AutoClose
		private static TestingServer server;

		@BeforeAll
		static void start() throws Exception {
			server = TestServers.start();
		}

		@Override
		protected LockStore createStore() {
			return connect(server.getConnectString());
		}

	}

	@Nested
	@FullProfileOnly
	class OnThreeServers extends AbstractLockRegistryTests {

		@AutoClose
		private static TestingCluster cluster;

		@BeforeAll
		static void start() throws Exception {
			cluster = TestServers.startThree();
		}

		@Override
		protected LockStore createStore() {
			return connect(cluster.getConnectString());
		}

	}

	private static LockStore connect(String servers) {
		return ZooKeeperLockStore.connect(servers, TestServers.PATIENT);
	}

}
