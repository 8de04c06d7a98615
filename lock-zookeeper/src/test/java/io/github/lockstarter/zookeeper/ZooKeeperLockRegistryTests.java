// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

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

		@Override
		protected LockStore createStore() {
			return connect(SERVER);
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
			return connect(ensemble.connectString());
		}

	}

	private static LockStore connect(String servers) {
		return ZooKeeperLockStore.connect(servers, TestServers.PATIENT);
	}

}
