// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.ZooKeeperEnsemble;
import io.github.lockstarter.servers.ZooKeeperServer;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LockStore;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.AbstractCapableLockStoreTests;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of every store, on one server and on an ensemble whose members each serve
 * another instance.
 */
class ZooKeeperLockStoreTests {

	private static final int JVMS = 4;

	@Nested
	class OnOneServer extends ContractTests {

		@BeforeAll
		static void connect() throws Exception {
			connect(List.of(SharedServers.zooKeeper()));
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
				this.one.client().release(this.key, this.owner);
				await().until(() -> three.acquire(this.key, second, LEASE_TIME, false) instanceof AcquireResult.Grant);
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(turn);
				SafetyViolation.check(two.acquire(this.key, first, LEASE_TIME, false) instanceof AcquireResult.Refusal,
						"two owners of '%s'", this.key);
			}
		}

	}

	@Nested
	@FullProfileOnly
	class OnThreeServers extends ContractTests {

		@AutoClose
		private static ZooKeeperEnsemble ensemble;

		@BeforeAll
		static void connect() throws Exception {
			ensemble = ZooKeeperEnsemble.start("syncLimit=50");
			connect(ensemble.members().stream().map(ZooKeeperServer::address).toList());
		}

	}

	abstract static class ContractTests extends AbstractCapableLockStoreTests {

		private static final List<CuratorFramework> clients = new ArrayList<>();

		private int next;

		/**
		 * Open a session for each instance.
		 */
		static void connect(List<String> servers) throws Exception {
			for (int i = 0; i < JVMS; i++) {
				clients.add(TestServers.connected(servers.get(i % servers.size()), TestServers.PATIENT));
			}
		}

		@AfterAll
		static void disconnect() {
			clients.forEach(CuratorFramework::close);
			clients.clear();
		}

		@Override
		protected LockStore createStore() {
			return createStore(RESERVATION);
		}

		final ZooKeeperLockStore createStore(Duration reservation) {
			CuratorFramework client = clients.get(this.next++ % clients.size());
			return new ZooKeeperLockStore(client, TestServers.PATIENT, reservation);
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
			CuratorFramework client = clients.get(0);
			String lock = new LockPaths(null, TestServers.PATIENT.root()).of(key);
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
