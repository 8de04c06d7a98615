// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseListener;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Several instances of an application on an ensemble of three members.
 */
class ManyInstancesTests {

	private static TestingCluster cluster;

	private static CuratorFramework one;

	private static CuratorFramework two;

	@BeforeAll
	static void start() throws Exception {
		cluster = TestServers.startThree();
		one = TestServers.connected(cluster.getConnectString(), TestServers.PATIENT);
		two = TestServers.connected(cluster.getConnectString(), TestServers.PATIENT);
	}

	@AfterAll
	static void stop() throws Exception {
		one.close();
		two.close();
		cluster.close();
	}

	@Test
	void ownersNeverOverlapWhileMembersAreKilledAndRestarted() throws Exception {
		try (Contest contest = new Contest(one, two, LockKey.of("killed"), LockMode.EXCLUSIVE)) {
			contest.start();
			for (InstanceSpec member : cluster.getInstances()) {
				contest.awaitProgress();
				cluster.killServer(member);
				contest.awaitProgress();
				cluster.restartServer(member);
			}
			contest.awaitProgress();
			contest.stop();
			contest.assertOrder();
		}
	}

	@Test
	void aReleaseNotifiesOneOfManyInstances() throws Exception {
		LockKey key = LockKey.of("herd");
		List<ZooKeeperLockStore> stores = IntStream.range(0, 20).mapToObj((i) -> TestServers.store(one)).toList();
		AtomicInteger notified = new AtomicInteger();
		ReleaseListener listener = new ReleaseListener() {

			@Override
			public void onRelease(LockKey key) {
				notified.incrementAndGet();
			}

			@Override
			public void onDoubt() {
			}

		};
		List<StoreClient> clients = stores.stream().map(StoreClient::new).toList();
		List<OwnerToken> owners = clients.stream().map((client) -> OwnerToken.random()).toList();
		for (int i = 0; i < clients.size(); i++) {
			clients.get(i).listen(listener);
			clients.get(i).acquire(key, owners.get(i), Duration.ofSeconds(30), true);
		}
		for (int i = 1; i < clients.size(); i++) {
			clients.get(i - 1).release(key, owners.get(i - 1), null);
			int expected = i;
			await().until(() -> notified.get() == expected);
			assertThat(clients.get(i).acquire(key, owners.get(i), Duration.ofSeconds(30), true))
				.isInstanceOf(LockGrant.class);
		}
		assertThat(notified).hasValue(clients.size() - 1);
		stores.forEach(ZooKeeperLockStore::close);
	}

	@Test
	void nothingIsLeftOfALockThatNobodyUses() throws Exception {
		LockKey key = LockKey.of("left", "over");
		try (Contest contest = new Contest(one, two, key, LockMode.EXCLUSIVE)) {
			contest.run(5);
			await().until(() -> TestServers.nodes(one, "/distributed-locks/left:over").isEmpty());
			await().until(() -> contest.linesLeft() == 0);
		}
	}

}
