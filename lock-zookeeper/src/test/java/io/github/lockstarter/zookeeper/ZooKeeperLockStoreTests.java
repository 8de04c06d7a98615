// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.test.AbstractLockStoreTests;
import io.github.lockstarter.testsupport.FullProfileOnly;

/**
 * The contract of every store, on one server and on an ensemble whose members each serve
 * another instance.
 */
class ZooKeeperLockStoreTests {

	private static final int JVMS = 4;

	private static TestingServer server;

	private static TestingCluster cluster;

	private static final List<CuratorFramework> oneServer = new ArrayList<>();

	private static final List<CuratorFramework> threeServers = new ArrayList<>();

	@BeforeAll
	static void start() throws Exception {
		server = TestServers.start();
		cluster = TestServers.startThree();
		List<String> members = cluster.getInstances()
			.stream()
			.map((member) -> "127.0.0.1:" + member.getPort())
			.toList();
		for (int i = 0; i < JVMS; i++) {
			oneServer.add(TestServers.connected(server.getConnectString(), TestServers.PATIENT));
			threeServers.add(TestServers.connected(members.get(i % members.size()), TestServers.PATIENT));
		}
	}

	@AfterAll
	static void stop() throws Exception {
		Stream.concat(oneServer.stream(), threeServers.stream()).forEach(CuratorFramework::close);
		oneServer.clear();
		threeServers.clear();
		server.close();
		cluster.close();
	}

	@Nested
	class OnOneServer extends ContractTests {

		OnOneServer() {
			super(oneServer);
		}

	}

	@Nested
	@FullProfileOnly
	class OnThreeServers extends ContractTests {

		OnThreeServers() {
			super(threeServers);
		}

	}

	abstract static class ContractTests extends AbstractLockStoreTests {

		private final List<CuratorFramework> clients;

		private int next;

		ContractTests(List<CuratorFramework> clients) {
			this.clients = clients;
		}

		@Override
		protected LockStore createStore() {
			return TestServers.store(this.clients.get(this.next++ % this.clients.size()));
		}

		@Override
		protected boolean knowsTheRemainingTime() {
			return false;
		}

	}

}
