// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.ACLProvider;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.UnusableStoreException;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The permissions that locks need: to create, delete, read and write nodes at the root
 * and below, as the documentation says.
 */
class AccessControlTests {

	private static final int DOCUMENTED = Perms.CREATE | Perms.DELETE | Perms.READ | Perms.WRITE;

	private static final Duration LEASE_TIME = Duration.ofSeconds(30);

	private static final LockKey KEY = LockKey.of("stock", 1);

	private static final String SERVER = SharedServers.zooKeeper();

	/** One without credentials. */
	@AutoClose
	private static CuratorFramework administrator;

	private static final AtomicInteger namespaces = new AtomicInteger();

	private final String namespace = "locked" + namespaces.incrementAndGet();

	private final String root = "/" + this.namespace + "/distributed-locks";

	@BeforeAll
	static void connect() {
		administrator = ZooKeeperLockStore.client(SERVER, TestServers.PATIENT);
	}

	@ParameterizedTest
	@EnumSource
	void theDocumentedPermissionsSuffice(LockMode mode) throws Exception {
		prepare(DOCUMENTED);
		try (CuratorFramework client = client(DOCUMENTED);
				CuratorFramework otherClient = client(DOCUMENTED);
				ZooKeeperLockStore store = TestServers.store(client);
				ZooKeeperLockStore otherStore = TestServers.store(otherClient)) {
			StoreClient locks = new StoreClient(store);
			StoreClient otherLocks = new StoreClient(otherStore);
			OwnerToken owner = OwnerToken.random(mode);
			OwnerToken other = OwnerToken.random(LockMode.WRITE);
			OwnerToken fair = OwnerToken.random(LockMode.FAIR);
			assertThat(locks.acquire(KEY, owner, LEASE_TIME, false)).isInstanceOf(AcquireResult.Grant.class);
			assertThat(locks.renew(KEY, owner, LEASE_TIME)).isTrue();
			assertThat(otherLocks.acquire(KEY, other, LEASE_TIME, true)).isInstanceOf(AcquireResult.Refusal.class);
			otherLocks.arrive(KEY, fair);
			assertThat(locks.waiters(KEY)).hasSize(2);
			otherLocks.withdraw(KEY, fair);
			assertThat(locks.waiters(KEY)).hasSize(1);
			assertThat(locks.release(KEY, owner)).isTrue();
			assertThat(otherLocks.acquire(KEY, other, LEASE_TIME, true)).isInstanceOf(AcquireResult.Grant.class);
			assertThat(otherLocks.release(KEY, other)).isTrue();
			await().until(() -> client.checkExists().forPath("/distributed-locks/stock:1") == null);
			assertThat(locks.acquire(KEY, owner, LEASE_TIME, false)).isInstanceOf(AcquireResult.Grant.class);
			assertThatExceptionOfType(KeeperException.NoAuthException.class)
				.isThrownBy(() -> client.create().forPath("/other"));
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { Perms.CREATE, Perms.READ, Perms.WRITE, Perms.ALL })
	void withoutOneOfTheDocumentedPermissionsALockIsNotGranted(int missing) throws Exception {
		prepare(DOCUMENTED & ~missing);
		try (CuratorFramework client = client(DOCUMENTED & ~missing);
				ZooKeeperLockStore store = TestServers.store(client)) {
			StoreClient locks = new StoreClient(store);
			OwnerToken owner = OwnerToken.random();
			assertThatExceptionOfType(UnusableStoreException.class).isThrownBy(() -> {
				locks.acquire(KEY, owner, LEASE_TIME, false);
				locks.renew(KEY, owner, LEASE_TIME);
			}).withMessageContaining(this.root);
		}
	}

	@Test
	void aRootThatMayNotBeCreatedIsNamed() throws Exception {
		prepare(DOCUMENTED);
		try (CuratorFramework client = client(DOCUMENTED);
				ZooKeeperLockStore store = new ZooKeeperLockStore(client,
						new ZooKeeperLockSettings("/others", Duration.ofSeconds(3), Duration.ofSeconds(3)))) {
			assertThatExceptionOfType(UnusableStoreException.class)
				.isThrownBy(() -> new StoreClient(store).acquire(KEY, OwnerToken.random(), LEASE_TIME, false))
				.withMessage("The user of this ZooKeeper session may not use '/" + this.namespace + "/others': it needs"
						+ " the rights to create, delete, read and write nodes there. A session from a connect string"
						+ " has no user; for one with credentials, use a CuratorFramework");
		}
	}

	@Test
	void aListThatIsNotValidIsNoMissingRight() throws Exception {
		try (CuratorFramework client = CuratorFrameworkFactory.builder()
			.connectString(SERVER)
			.retryPolicy(new RetryOneTime(1))
			.aclProvider(provider(Ids.CREATOR_ALL_ACL))
			.build()) {
			client.start();
			client.blockUntilConnected();
			try (ZooKeeperLockStore store = TestServers.store(client)) {
				assertThatExceptionOfType(UnusableStoreException.class)
					.isThrownBy(() -> new StoreClient(store).acquire(KEY, OwnerToken.random(), LEASE_TIME, false))
					.withMessageStartingWith("ZooKeeper has refused the access control list for '/distributed-locks")
					.withMessageEndingWith(
							"the ACLProvider of the CuratorFramework has to name a user, or the session needs credentials");
			}
		}
	}

	@Test
	void nobodyElseUsesTheLocks() throws Exception {
		prepare(DOCUMENTED);
		try (CuratorFramework client = client(DOCUMENTED); ZooKeeperLockStore store = TestServers.store(client)) {
			new StoreClient(store).acquire(KEY, OwnerToken.random(), LEASE_TIME, false);
			assertThatExceptionOfType(KeeperException.NoAuthException.class)
				.isThrownBy(() -> administrator.getChildren().forPath(this.root + "/stock:1"));
		}
	}

	/** Create the root as an administrator does, and permit nothing beside it. */
	private void prepare(int permissions) throws Exception {
		administrator.create().creatingParentsIfNeeded().forPath(this.root);
		administrator.setACL().withACL(list(permissions)).forPath(this.root);
		administrator.setACL().withACL(Ids.READ_ACL_UNSAFE).forPath("/" + this.namespace);
	}

	private CuratorFramework client(int permissions) throws Exception {
		CuratorFramework client = CuratorFrameworkFactory.builder()
			.connectString(SERVER)
			.retryPolicy(new RetryOneTime(1))
			.namespace(this.namespace)
			.authorization("digest", "shop:secret".getBytes())
			.aclProvider(provider(list(permissions)))
			.build();
		client.start();
		client.blockUntilConnected();
		return client;
	}

	private static ACLProvider provider(List<ACL> list) {
		return new ACLProvider() {

			@Override
			public List<ACL> getDefaultAcl() {
				return list;
			}

			@Override
			public List<ACL> getAclForPath(String path) {
				return list;
			}

		};
	}

	private static List<ACL> list(int permissions) throws Exception {
		Id user = new Id("digest", DigestAuthenticationProvider.generateDigest("shop:secret"));
		return Arrays.asList(new ACL(permissions, user));
	}

}
