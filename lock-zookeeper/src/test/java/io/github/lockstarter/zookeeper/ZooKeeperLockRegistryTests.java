// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.ArrayList;
import java.util.List;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.ZooKeeperEnsemble;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockRegistryTests;
import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * Instances with sessions of their own on one server, and on an ensemble.
 */
class ZooKeeperLockRegistryTests {

	@Nested
	class OnOneServer extends AbstractLockRegistryTests {

		private static final String SERVER = SharedServers.zooKeeper();

		/** Those of all tests, because it takes time to begin and to end a session. */
		private static final List<CuratorFramework> sessions = new ArrayList<>();

		private int instances;

		@AfterAll
		static void end() {
			sessions.forEach(CuratorFramework::close);
			sessions.clear();
		}

		@Override
		protected LockStore createStore() {
			if (this.instances == sessions.size()) {
				sessions.add(ZooKeeperLockStore.client(SERVER, TestServers.PATIENT));
			}
			return new ZooKeeperLockStore(sessions.get(this.instances++), TestServers.PATIENT);
		}

	}

	@Nested
	@FullProfileOnly
	class OnThreeServers extends AbstractLockRegistryTests {

		@AutoClose
		private static ZooKeeperEnsemble ensemble;

		@BeforeAll
		static void start() {
			ensemble = ZooKeeperEnsemble.start("syncLimit=50");
		}

		@Override
		protected LockStore createStore() {
			return ZooKeeperLockStore.connect(ensemble.connectString(), TestServers.PATIENT);
		}

	}

}
