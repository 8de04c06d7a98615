// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.UnusableStoreException;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The nodes of locks: where they are, who may use them, and who removes them.
 */
class NodesTests {

	private static final Duration LEASE_TIME = Duration.ofSeconds(30);

	private final String server = SharedServers.zooKeeper();

	@Test
	void aLockIsAContainerWithEphemeralNodes() throws Exception {
		try (CuratorFramework client = connected(""); ZooKeeperLockStore store = TestServers.store(client)) {
			StoreClient locks = new StoreClient(store);
			LockKey key = LockKey.of("stock", "a/b");
			OwnerToken owner = OwnerToken.random();
			locks.acquire(key, owner, LEASE_TIME, false);
			String path = "/distributed-locks/stock:a%2Fb";
			List<String> nodes = client.getChildren().forPath(path);
			assertThat(nodes).singleElement()
				.asString()
				.matches(Pattern.quote(OwnerToken.instance(null)) + "\\.[A-Za-z0-9_-]{22}-x-\\d{10}");
			Stat node = client.checkExists().forPath(path + '/' + nodes.get(0));
			assertThat(node.getEphemeralOwner()).isEqualTo(client.getZookeeperClient().getZooKeeper().getSessionId());
			locks.release(key, owner);
			await().until(() -> client.checkExists().forPath(path) == null);
			assertThat(client.checkExists().forPath("/distributed-locks")).isNotNull();
		}
	}

	@Test
	void aPathOfTheConnectStringThatDoesNotExistIsNamedAtTheStartAndByEachCall() throws Exception {
		String top = "/absent-" + OwnerToken.randomId();
		try (CuratorFramework client = TestServers.connected(this.server + top, TestServers.PATIENT);
				ZooKeeperLockStore store = TestServers.store(client)) {
			assertThat(store.connect()).failsWithin(Duration.ofMinutes(1))
				.withThrowableThat()
				.withCauseInstanceOf(UnusableStoreException.class);
			StoreClient locks = new StoreClient(store);
			LockKey key = LockKey.of("stock", 1);
			assertThatExceptionOfType(UnusableStoreException.class)
				.isThrownBy(() -> locks.acquire(key, OwnerToken.random(), LEASE_TIME, false))
				.withMessageContaining("path at the end of the connect string of the CuratorFramework does not exist");
			assertThat(store.address()).endsWith(top);
			try (CuratorFramework above = TestServers.connected(this.server, TestServers.PATIENT)) {
				above.create().forPath(top);
			}
			assertThat(locks.acquire(key, OwnerToken.random(), LEASE_TIME, false))
				.isInstanceOf(AcquireResult.Grant.class);
		}
	}

	@Test
	void theNamespaceAndTheAccessControlListsOfTheClientApply() throws Exception {
		try (CuratorFramework shop = client("shop", "shop", ZooDefs.Ids.CREATOR_ALL_ACL);
				CuratorFramework other = client("other", "shop", ZooDefs.Ids.CREATOR_ALL_ACL);
				ZooKeeperLockStore shopStore = TestServers.store(shop);
				ZooKeeperLockStore otherStore = TestServers.store(other)) {
			LockKey key = LockKey.of("stock", 1);
			assertThat(new StoreClient(shopStore).acquire(key, OwnerToken.random(), LEASE_TIME, false))
				.isInstanceOf(AcquireResult.Grant.class);
			assertThat(shop.checkExists().forPath("/distributed-locks/stock:1")).isNotNull();
			List<ACL> list = shop.getACL().forPath("/distributed-locks/stock:1");
			assertThat(list).singleElement()
				.satisfies((acl) -> assertThat(acl.getId().getScheme()).isEqualTo("digest"));
			assertThatExceptionOfType(UnusableStoreException.class)
				.isThrownBy(() -> new StoreClient(otherStore).acquire(key, OwnerToken.random(), LEASE_TIME, false))
				.withMessageContaining("/shop/distributed-locks/stock:1");
		}
	}

	@Test
	void aPathOfTheConnectStringIsCreated() throws Exception {
		String path = "/" + UUID.randomUUID();
		String members = this.server.split("/")[0];
		LockKey key = LockKey.of("stock", 1);
		try (ZooKeeperLockStore store = ZooKeeperLockStore.connect(members + path + "/shop", TestServers.PATIENT);
				CuratorFramework client = TestServers.connected(members, TestServers.PATIENT)) {
			StoreClient locks = new StoreClient(store);
			OwnerToken owner = OwnerToken.random();
			await().ignoreExceptions()
				.until(() -> locks.acquire(key, owner, LEASE_TIME, false) instanceof AcquireResult.Grant);
			assertThat(client.getChildren().forPath(path + "/shop/distributed-locks/stock:1")).hasSize(1);
			locks.release(key, owner);
		}
	}

	@Test
	void theConnectStringMayEndInAPath() throws Exception {
		try (CuratorFramework all = connected("")) {
			all.create().forPath("/shop-1");
			try (CuratorFramework client = connected("/shop-1");
					CuratorFramework otherClient = connected("/shop-1");
					ZooKeeperLockStore store = TestServers.store(client);
					ZooKeeperLockStore otherStore = TestServers.store(otherClient)) {
				LockKey key = LockKey.of("stock", "path");
				OwnerToken owner = OwnerToken.random();
				StoreClient locks = new StoreClient(store);
				locks.acquire(key, owner, LEASE_TIME, false);
				assertThat(TestServers.nodes(all, "/shop-1/distributed-locks/stock:path")).hasSize(1);
				assertThat(locks.renew(key, owner, LEASE_TIME)).isTrue();
				assertThat(locks.release(key, owner)).isTrue();
				assertThat(new StoreClient(otherStore).acquire(key, OwnerToken.random(), LEASE_TIME, false))
					.isInstanceOf(AcquireResult.Grant.class);
			}
		}
	}

	@Test
	void aFencingBaseGrowsThoughTheNodesOfTheLockBeginAnew() throws Exception {
		try (CuratorFramework client = connected(""); ZooKeeperLockStore store = TestServers.store(client)) {
			StoreClient locks = new StoreClient(store);
			LockKey key = LockKey.of("stock", "anew");
			long before = base(locks, key);
			await().until(() -> client.checkExists().forPath("/distributed-locks/stock:anew") == null);
			assertThat(base(locks, key)).isGreaterThan(before);
		}
	}

	@Test
	void aFencingBaseGrowsThoughAllLocksWereDeleted() throws Exception {
		try (CuratorFramework client = connected("");
				CuratorFramework otherClient = connected("");
				ZooKeeperLockStore store = TestServers.store(client);
				ZooKeeperLockStore otherStore = TestServers.store(otherClient)) {
			StoreClient locks = new StoreClient(store);
			StoreClient otherLocks = new StoreClient(otherStore);
			LockKey key = LockKey.of("stock", "deleted");
			long before = base(locks, key);
			await().until(() -> client.getChildren().forPath("/distributed-locks").isEmpty());
			client.delete().forPath("/distributed-locks");
			long other = base(otherLocks, key);
			assertThat(other).isGreaterThan(before);
			assertThat(base(locks, key)).isGreaterThan(other);
		}
	}

	@Test
	void nothingIsLeftOfALockThatNobodyUses() throws Exception {
		try (CuratorFramework client = connected("");
				CuratorFramework otherClient = connected("");
				ZooKeeperLockStore store = TestServers.store(client);
				ZooKeeperLockStore otherStore = TestServers.store(otherClient)) {
			StoreClient locks = new StoreClient(store);
			StoreClient otherLocks = new StoreClient(otherStore);
			LockKey key = LockKey.of("left", "over");
			OwnerToken owner = OwnerToken.random();
			OwnerToken next = OwnerToken.random();
			locks.acquire(key, owner, LEASE_TIME, true);
			assertThat(otherLocks.acquire(key, next, LEASE_TIME, true)).isInstanceOf(AcquireResult.Refusal.class);
			locks.release(key, owner);
			await().until(() -> otherLocks.acquire(key, next, LEASE_TIME, true) instanceof AcquireResult.Grant);
			otherLocks.release(key, next);
			assertThat(TestServers.nodes(client, "/distributed-locks/left:over")).isEmpty();
			await().until(() -> store.linesInUse() == 0 && otherStore.linesInUse() == 0);
		}
	}

	@Test
	void aReleaseNotifiesOneOfManyInstances() throws Exception {
		LockKey key = LockKey.of("herd");
		try (CuratorFramework client = connected("")) {
			List<ZooKeeperLockStore> stores = Stream.generate(() -> TestServers.store(client)).limit(20).toList();
			AtomicInteger notified = new AtomicInteger();
			WaitingLine.Listener listener = new WaitingLine.Listener() {

				@Override
				public void onRelease(LockKey key) {
					notified.incrementAndGet();
				}

				@Override
				public void onDoubt() {
				}

			};
			List<StoreClient> clients = stores.stream().map(StoreClient::new).toList();
			List<OwnerToken> owners = clients.stream().map((each) -> OwnerToken.random()).toList();
			for (int i = 0; i < clients.size(); i++) {
				clients.get(i).listen(listener);
				clients.get(i).acquire(key, owners.get(i), LEASE_TIME, true);
			}
			for (int i = 1; i < clients.size(); i++) {
				clients.get(i - 1).release(key, owners.get(i - 1));
				int expected = i;
				await().until(() -> notified.get() == expected);
				assertThat(clients.get(i).acquire(key, owners.get(i), LEASE_TIME, true))
					.isInstanceOf(AcquireResult.Grant.class);
			}
			assertThat(notified).hasValue(clients.size() - 1);
			stores.forEach(ZooKeeperLockStore::close);
		}
	}

	/**
	 * A reader may use the place of a waiter that it shares the lock with. The turn of
	 * the place does not come by that.
	 */
	@Test
	void theTurnOfAReaderIsNotThatOfTheWaiterWhosePlaceItHasUsed() throws Exception {
		try (CuratorFramework client = connected("");
				CuratorFramework otherClient = connected("");
				ZooKeeperLockStore store = TestServers.store(client);
				ZooKeeperLockStore otherStore = TestServers.store(otherClient)) {
			StoreClient locks = new StoreClient(store);
			StoreClient otherLocks = new StoreClient(otherStore);
			LockKey key = LockKey.of("stock", "readers");
			OwnerToken reader = OwnerToken.random(LockMode.READ);
			OwnerToken otherReader = OwnerToken.random(LockMode.READ);
			OwnerToken waiter = OwnerToken.random(LockMode.FAIR);
			assertThat(locks.acquire(key, reader, LEASE_TIME, false)).isInstanceOf(AcquireResult.Grant.class);
			assertThat(otherLocks.acquire(key, waiter, LEASE_TIME, true)).isInstanceOf(AcquireResult.Refusal.class);
			assertThat(otherLocks.acquire(key, otherReader, LEASE_TIME, false)).isInstanceOf(AcquireResult.Grant.class);
			otherLocks.release(key, otherReader);
			SafetyViolation.check(otherLocks.acquire(key, waiter, LEASE_TIME, true) instanceof AcquireResult.Refusal,
					"'%s' was granted while a reader has it", key);
			locks.release(key, reader);
			await().until(() -> otherLocks.acquire(key, waiter, LEASE_TIME, true) instanceof AcquireResult.Grant);
			otherLocks.release(key, waiter);
		}
	}

	private static long base(StoreClient locks, LockKey key) {
		OwnerToken owner = OwnerToken.random();
		long base = ((AcquireResult.Grant) locks.acquire(key, owner, LEASE_TIME, false)).fencingBase();
		locks.release(key, owner);
		return base;
	}

	private CuratorFramework connected(String path) throws Exception {
		return TestServers.connected(this.server + path, TestServers.PATIENT);
	}

	private CuratorFramework client(String user, String namespace, List<ACL> list) throws Exception {
		CuratorFramework client = CuratorFrameworkFactory.builder()
			.connectString(this.server)
			.retryPolicy(new RetryOneTime(1))
			.namespace(namespace)
			.authorization("digest", (user + ":secret").getBytes())
			.aclProvider(new ACLProvider() {

				@Override
				public List<ACL> getDefaultAcl() {
					return list;
				}

				@Override
				public List<ACL> getAclForPath(String path) {
					return list;
				}

			})
			.build();
		client.start();
		client.blockUntilConnected();
		return client;
	}

}
