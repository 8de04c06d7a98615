// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockGrant;
import io.github.lockstarter.store.LockRefusal;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.ReleaseOutcome;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.StoreClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * What becomes of locks and waiters when connections and sessions end.
 */
class SessionTests {

	private static final LockKey KEY = LockKey.of("stock", 1001);

	private static final String PATH = "/distributed-locks/stock:1001";

	private static final LockRequest REQUEST = LockRequest.of(KEY).withWaitTime(Duration.ofSeconds(30));

	private static final Duration LEASE_TIME = Duration.ofSeconds(30);

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private TestingServer server;

	private TestNetwork network;

	private CuratorFramework near;

	private CuratorFramework far;

	private ZooKeeperLockStore nearStore;

	private ZooKeeperLockStore farStore;

	private DefaultLockRegistry nearRegistry;

	private DefaultLockRegistry farRegistry;

	@BeforeEach
	void start() throws Exception {
		this.server = TestServers.start();
		this.network = TestNetwork.to(this.server.getPort());
		this.near = TestServers.connected(this.server.getConnectString(), TestServers.PATIENT);
		this.far = TestServers.connected(this.network.address());
		this.nearStore = TestServers.store(this.near);
		this.farStore = TestServers.store(this.far);
		this.nearRegistry = new DefaultLockRegistry(this.nearStore, TestServers.ENGINE, LockListener.NO_OP);
		this.farRegistry = new DefaultLockRegistry(this.farStore, TestServers.ENGINE, this.events::add);
	}

	@AfterEach
	void stop() throws Exception {
		// A client that cannot end its session waits for a while
		this.network.heal();
		this.farRegistry.close();
		this.nearRegistry.close();
		this.farStore.close();
		this.nearStore.close();
		this.far.close();
		this.near.close();
		this.network.close();
		this.server.close();
	}

	@Test
	void aLeaseCountsForTwoFifthsOfTheSessionTimeout() {
		long before = System.nanoTime();
		Duration remaining = this.farRegistry.tryAcquire(REQUEST).orElseThrow().remaining();
		Duration passed = Duration.ofNanos(System.nanoTime() - before);
		assertThat(remaining).isBetween(Duration.ofMillis(1150).minus(passed), Duration.ofMillis(1200));
		assertThat(this.farStore.longestLease()).isEqualTo(Duration.ofMillis(1200));
	}

	@Test
	void aLongFixedLeaseIsRenewedUntilItsEnd() throws Exception {
		try (CuratorFramework patient = client(this.network.address(), Duration.ofSeconds(12));
				ZooKeeperLockStore store = TestServers.store(patient);
				DefaultLockRegistry registry = new DefaultLockRegistry(store, TestServers.ENGINE, this.events::add)) {
			long start = System.nanoTime();
			Lease lease = registry.acquire(REQUEST.withLeaseTime(Duration.ofSeconds(7)));
			assertThat(store.longestLease()).isEqualTo(Duration.ofMillis(4800));
			await().atMost(Duration.ofSeconds(30)).until(() -> !lease.isHeld());
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofSeconds(6),
					Duration.ofSeconds(12));
			assertThat(this.nearRegistry.tryAcquire(REQUEST)).isPresent();
		}
	}

	@Test
	void aHolderWithoutConnectionKnowsItBeforeAnotherGetsTheLock() throws Exception {
		Lease lease = this.farRegistry.acquire(REQUEST);
		Call<Boolean> heldBoth = Callers.start(() -> {
			try (Lease next = this.nearRegistry.acquire(REQUEST)) {
				return lease.isHeld() || next.fencingToken() <= lease.fencingToken();
			}
		}).awaitParked();
		this.network.cut();
		assertThat(heldBoth.get()).isFalse();
		await().until(() -> has(LockEvent.Lost.class));
	}

	/** The lease is so long that it does not end while the machine stands still. */
	@Test
	void aHolderWithoutConnectionIsWarnedBeforeItsLeaseEnds() throws Exception {
		try (CuratorFramework patient = client(this.network.address(), Duration.ofSeconds(15));
				ZooKeeperLockStore store = TestServers.store(patient);
				DefaultLockRegistry registry = new DefaultLockRegistry(store, TestServers.ENGINE, this.events::add)) {
			Lease lease = registry.acquire(REQUEST);
			this.network.cut();
			await().until(() -> has(LockEvent.Suspect.class));
			assertThat(lease.isHeld()).isTrue();
			assertThat(has(LockEvent.Lost.class)).isFalse();
			this.network.heal();
		}
	}

	@Test
	void anInterruptionIsReportedAtOnce() throws Exception {
		CountDownLatch interruptions = new CountDownLatch(1);
		this.farStore.onInterruption(interruptions::countDown);
		this.network.cut();
		assertThat(interruptions.await(1, TimeUnit.MINUTES)).isTrue();
	}

	@Test
	void aShortInterruptionLosesNothing() throws Exception {
		try (CuratorFramework patient = client(this.network.address(), Duration.ofSeconds(12));
				ZooKeeperLockStore store = TestServers.store(patient);
				DefaultLockRegistry registry = new DefaultLockRegistry(store, TestServers.ENGINE, this.events::add)) {
			Lease lease = registry.acquire(REQUEST);
			this.network.heal();
			long end = System.nanoTime() + lease.remaining().toNanos();
			await().until(() -> System.nanoTime() - end > 0);
			assertThat(lease.isHeld()).isTrue();
			assertThat(has(LockEvent.Lost.class)).isFalse();
			lease.close();
			try (Lease next = this.nearRegistry.acquire(REQUEST)) {
				assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
			}
		}
	}

	@Test
	void anEndedSessionLosesItsLocksAtTheNextRenewal() throws Exception {
		Lease lease = this.farRegistry.acquire(REQUEST);
		TestServers.endSession(this.far, this.server.getConnectString());
		try (Lease next = this.nearRegistry.acquire(REQUEST)) {
			assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
		}
		await().until(() -> has(LockEvent.Lost.class));
		assertThat(lease.isHeld()).isFalse();
		try (Lease again = this.farRegistry.acquire(LockRequest.of("stock", 2))) {
			assertThat(again.isHeld()).isTrue();
		}
	}

	@Test
	void locksAreGrantedAgainAlthoughTheClientLearnsLateOfTheEndOfItsSession() throws Exception {
		StoreClient client = new StoreClient(this.farStore);
		client.acquire(LockKey.of("stock", 1), OwnerToken.random(), LEASE_TIME, false);
		ZooKeeper last = this.far.getZookeeperClient().getZooKeeper();
		CompletableFuture<Void> blocked = new CompletableFuture<>();
		last.sync("/", (rc, path, context) -> blocked.join(), null);
		TestServers.endSession(this.far, this.server.getConnectString());
		await().until(() -> !last.getState().isAlive());
		assertThatThrownBy(() -> client.acquire(KEY, OwnerToken.random(), LEASE_TIME, false))
			.isInstanceOf(CompletionException.class);
		blocked.complete(null);
		await().ignoreExceptions()
			.until(() -> client.acquire(KEY, OwnerToken.random(), LEASE_TIME, false) instanceof LockGrant);
		assertThat(this.farStore.longestLease()).isEqualTo(Duration.ofMillis(1200));
		await().ignoreExceptions()
			.until(() -> this.farRegistry.tryAcquire(LockRequest.of("stock", 2)).orElseThrow().isHeld());
	}

	@Test
	void aWaiterWhoseSessionEndsWaitsInTheNextOne() throws Exception {
		Lease lease = this.nearRegistry.acquire(REQUEST);
		Call<Boolean> waiter = Callers.start(() -> {
			try (Lease next = this.farRegistry.acquire(REQUEST)) {
				return next.isHeld();
			}
		});
		await().until(() -> TestServers.nodes(this.near, PATH).size() == 2);
		TestServers.endSession(this.far, this.server.getConnectString());
		await().until(() -> TestServers.nodes(this.near, PATH).size() == 2);
		lease.close();
		assertThat(waiter.get()).isTrue();
	}

	@Test
	void anotherSessionReleasesWhatTheLastOneHasLeft() throws Exception {
		try (CuratorFramework patient = TestServers.connected(this.network.address(), TestServers.PATIENT);
				ZooKeeperLockStore store = TestServers.store(patient)) {
			OwnerToken owner = OwnerToken.random();
			StoreClient client = new StoreClient(store);
			assertThat(client.acquire(KEY, owner, LEASE_TIME, false)).isInstanceOf(LockGrant.class);
			// The server still keeps the session
			this.network.cut();
			ZooKeeper last = patient.getZookeeperClient().getZooKeeper();
			last.getTestable().injectSessionExpiration();
			this.network.heal();
			await().until(() -> patient.getZookeeperClient().getZooKeeper() != last
					&& patient.getZookeeperClient().isConnected());
			assertThat(client.renew(KEY, owner, LEASE_TIME)).isFalse();
			assertThat(client.acquire(KEY, OwnerToken.random(), LEASE_TIME, false)).isInstanceOf(LockRefusal.class);
			assertThat(client.release(KEY, owner, null)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(client.acquire(KEY, OwnerToken.random(), LEASE_TIME, false)).isInstanceOf(LockGrant.class);
		}
	}

	@Test
	void aRequestWithoutAnswerEndsInTimeAndCanBeRepeated() throws Exception {
		try (CuratorFramework patient = TestServers.connected(this.network.address(), TestServers.PATIENT);
				ZooKeeperLockStore store = TestServers.store(patient)) {
			OwnerToken owner = OwnerToken.random();
			LeaseRequest request = new LeaseRequest(KEY, owner, LEASE_TIME);
			StoreClient client = new StoreClient(store);
			OwnerToken before = OwnerToken.random();
			client.acquire(KEY, before, LEASE_TIME, false);
			client.release(KEY, before, null);
			this.network.loseAnswers();
			long start = System.nanoTime();
			assertThatThrownBy(() -> client.acquire(KEY, owner, LEASE_TIME, true))
				.isInstanceOf(CompletionException.class);
			// It would take 13 seconds until the client gives up the connection
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
			assertThat(TestServers.nodes(this.near, PATH)).as("the request was carried out").hasSize(1);
			this.network.heal();
			await().ignoreExceptions().until(() -> client.acquire(KEY, owner, LEASE_TIME, true) instanceof LockGrant);
			await().until(() -> TestServers.nodes(this.near, PATH).size() == 1);
			assertThat(client.renew(KEY, owner, LEASE_TIME)).isTrue();
			assertThat(client.release(KEY, owner, null)).isEqualTo(ReleaseOutcome.RELEASED);
			assertThat(this.nearStore.renew(List.of(request)).get(0).toCompletableFuture().join()).isFalse();
			assertThat(TestServers.nodes(this.near, PATH)).isEmpty();
		}
	}

	@Test
	void aReleaseWithoutAnswerIsRepeatedWithTheNextConnection() throws Exception {
		try (CuratorFramework patient = TestServers.connected(this.network.address(), TestServers.PATIENT);
				ZooKeeperLockStore store = TestServers.store(patient)) {
			OwnerToken owner = OwnerToken.random();
			StoreClient client = new StoreClient(store);
			client.acquire(KEY, owner, LEASE_TIME, false);
			this.network.cut();
			assertThatThrownBy(() -> client.release(KEY, owner, null)).isInstanceOf(CompletionException.class);
			assertThat(TestServers.nodes(this.near, PATH)).hasSize(1);
			this.network.heal();
			await().until(() -> TestServers.nodes(this.near, PATH).isEmpty());
		}
	}

	@Test
	void aRequestWithoutConnectionFailsAtOnce() throws Exception {
		// A client that waited for an answer would wait longer than a machine stands
		// still
		ZooKeeperLockSettings settings = new ZooKeeperLockSettings("/distributed-locks", Duration.ofSeconds(3),
				Duration.ofSeconds(30));
		try (ZooKeeperLockStore store = new ZooKeeperLockStore(this.far, settings)) {
			StoreClient client = new StoreClient(store);
			client.acquire(KEY, OwnerToken.random(), LEASE_TIME, false);
			this.server.stop();
			await().until(() -> !this.far.getZookeeperClient().isConnected());
			long start = System.nanoTime();
			assertThatThrownBy(() -> client.acquire(KEY, OwnerToken.random(), LEASE_TIME, true))
				.isInstanceOf(CompletionException.class);
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
		}
	}

	@Test
	void locksOutliveTheRestartOfTheServer() throws Exception {
		try (CuratorFramework patient = client(this.server.getConnectString(), Duration.ofSeconds(8));
				ZooKeeperLockStore store = TestServers.store(patient)) {
			StoreClient client = new StoreClient(store);
			OwnerToken owner = OwnerToken.random();
			LockGrant grant = (LockGrant) client.acquire(KEY, owner, LEASE_TIME, false);
			this.server.restart();
			await().ignoreExceptions().until(() -> client.renew(KEY, owner, LEASE_TIME));
			assertThat(client.acquire(KEY, owner, LEASE_TIME, false)).isEqualTo(grant);
			client.release(KEY, owner, null);
			assertThat(((LockGrant) client.acquire(KEY, OwnerToken.random(), LEASE_TIME, false)).fencingBase())
				.isGreaterThan(grant.fencingBase());
		}
	}

	@Test
	void aClosedStoreKeepsItsSessionUntilTheLastLeaseEnds() throws Exception {
		// The session would not end by itself before this test gives up
		ZooKeeperLockStore store = ZooKeeperLockStore.connect(this.server.getConnectString(), TestServers.PATIENT);
		await().ignoreExceptions()
			.until(() -> new StoreClient(store).acquire(KEY, OwnerToken.random(), Duration.ofSeconds(5),
					false) instanceof LockGrant);
		store.close();
		assertThat(TestServers.nodes(this.near, PATH)).hasSize(1);
		await().until(() -> TestServers.nodes(this.near, PATH).isEmpty());
	}

	private static CuratorFramework client(String connectString, Duration sessionTimeout) throws Exception {
		CuratorFramework client = CuratorFrameworkFactory.newClient(connectString,
				Math.toIntExact(sessionTimeout.toMillis()), 1000, new RetryOneTime(1));
		client.start();
		client.blockUntilConnected();
		return client;
	}

	private boolean has(Class<? extends LockEvent> type) {
		return this.events.stream().anyMatch(type::isInstance);
	}

}
