// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.AbstractLockStoreTests;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

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

		@Test
		@Tag("clock")
		void aWaiterThatDoesNotComeWithinItsTurnIsPassedOver() {
			Duration turn = Duration.ofMillis(500);
			OwnerToken first = OwnerToken.random(LockMode.FAIR);
			OwnerToken second = OwnerToken.random(LockMode.FAIR);
			StoreClient three = this.three.client();
			this.one.client().acquire(this.key, this.owner, LEASE_TIME, false);
			try (ZooKeeperLockStore store = createStore(turn)) {
				StoreClient two = new StoreClient(store);
				two.arrive(this.key, first);
				three.arrive(this.key, second);
				long start = System.nanoTime();
				this.one.client().release(this.key, this.owner, null);
				await().until(() -> three.acquire(this.key, second, LEASE_TIME, false) instanceof LockGrant);
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(turn);
				assertThat(two.acquire(this.key, first, LEASE_TIME, false)).isInstanceOf(LockRefusal.class);
			}
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
			return createStore(RESERVATION);
		}

		final ZooKeeperLockStore createStore(Duration reservation) {
			CuratorFramework client = this.clients.get(this.next++ % this.clients.size());
			return new ZooKeeperLockStore(client, TestServers.SETTINGS, reservation);
		}

		/**
		 * Delete the node of an owner, as when its session ends.
		 */
		@Override
		protected void expire(LockKey key, OwnerToken owner) {
			deleteFirst(key, OwnNode.content(owner));
		}

		/**
		 * Delete the node whose turn it is, as when its session ends.
		 */
		@Override
		protected void endReservation(LockKey key) {
			deleteFirst(key, null);
		}

		private void deleteFirst(LockKey key, byte @Nullable [] content) {
			CuratorFramework client = this.clients.get(0);
			String lock = new LockPaths(null, TestServers.SETTINGS.root()).of(key);
			try {
				// Its server may be behind the others
				client.sync().forPath(lock);
				for (NodeName name : LineView.of(client.getChildren().forPath(lock), 0).names()) {
					String node = lock + '/' + name.text();
					if (content == null || Arrays.equals(client.getData().forPath(node), content)) {
						client.delete().forPath(node);
						return;
					}
				}
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
			throw new IllegalStateException("'" + lock + "' has no such node");
		}

		@Override
		protected boolean knowsTheRemainingTime() {
			return false;
		}

	}

}
