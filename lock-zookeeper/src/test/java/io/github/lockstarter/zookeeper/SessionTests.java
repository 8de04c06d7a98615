// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.servers.Network;
import io.github.lockstarter.servers.SharedServers;
import io.github.lockstarter.servers.ZooKeeperServer;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.LeaseRequest;
import io.github.lockstarter.store.LockInspection;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.store.WaitingLine;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.SafetyViolation;
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

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private static final Duration TWO_FIFTHS = TestServers.PATIENT.sessionTimeout().multipliedBy(2).dividedBy(5);

	/** Longer than a machine stands still, now and then. */
	private static final ZooKeeperLockSettings SHORT_SESSION = new ZooKeeperLockSettings("/distributed-locks",
			Duration.ofSeconds(2), Duration.ofSeconds(3));

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	/** The connect string without a network in between. */
	private final String direct = SharedServers.zooKeeper();

	private Network network;

	private CuratorFramework near;

	private CuratorFramework far;

	private ZooKeeperLockStore nearStore;

	private ZooKeeperLockStore farStore;

	private DefaultLockRegistry nearRegistry;

	private DefaultLockRegistry farRegistry;

	@BeforeEach
	void start() throws Exception {
		this.network = Network.to(TestServers.port(this.direct));
		this.near = TestServers.connected(this.direct, TestServers.PATIENT);
		this.far = TestServers.connected(distant(), TestServers.PATIENT);
		this.nearStore = TestServers.store(this.near);
		this.farStore = TestServers.store(this.far);
		this.nearRegistry = new DefaultLockRegistry(this.nearStore, TestServers.ENGINE, LockListener.NO_OP);
		this.farRegistry = new DefaultLockRegistry(this.farStore, TestServers.ENGINE, this.events::add);
	}

	@AfterEach
	void stop() {
		// A client that cannot end its session, or has to connect for that, takes a while
		this.network.heal();
		this.farRegistry.close();
		this.nearRegistry.close();
		this.farStore.close();
		this.nearStore.close();
		// Each client sleeps at its end
		Stream.of(this.far, this.near).parallel().forEach(CuratorFramework::close);
		this.network.close();
	}

	/** The connect string through the network. */
	private String distant() {
		return TestServers.twice(this.network.address()) + this.direct.substring(this.direct.indexOf('/'));
	}

	@Test
	void aLeaseCountsForTwoFifthsOfTheSessionTimeout() {
		Duration remaining = this.farRegistry.tryAcquire(REQUEST).orElseThrow().remaining();
		assertThat(TWO_FIFTHS).isGreaterThanOrEqualTo(remaining);
		assertThat(this.farStore.longestLease()).isEqualTo(TWO_FIFTHS);
	}

	@Test
	@Tag("clock")
	void aHolderWithoutConnectionKnowsItBeforeAnotherGetsTheLock() throws Exception {
		try (CuratorFramework client = TestServers.connected(distant(), SHORT_SESSION);
				ZooKeeperLockStore store = TestServers.store(client);
				DefaultLockRegistry registry = new DefaultLockRegistry(store, TestServers.ENGINE, this.events::add)) {
			Lease lease = registry.acquire(REQUEST);
			Call<Boolean> next = Callers.start(() -> {
				try (Lease later = this.nearRegistry.acquire(REQUEST)) {
					SafetyViolation.check(!lease.isHeld(), "two owners of %s", KEY);
					SafetyViolation.check(later.fencingToken() > lease.fencingToken(), "the token %s after %s",
							later.fencingToken(), lease.fencingToken());
					return true;
				}
			}).awaitParked();
			this.network.cut();
			assertThat(next.get()).isTrue();
			await().until(() -> has(LockEvent.Lost.class));
			this.network.healWithReset();
		}
	}

	@Test
	void theFirstCallWithoutWaitTimeWaitsForTheSession() throws Exception {
		this.network.cut();
		try (ZooKeeperLockStore store = ZooKeeperLockStore.connect(distant(), TestServers.PATIENT);
				DefaultLockRegistry registry = new DefaultLockRegistry(store, TestServers.ENGINE, LockListener.NO_OP)) {
			Call<Lease> call = Callers.start(() -> registry.acquire(REQUEST.withWaitTime(Duration.ZERO))).awaitParked();
			this.network.healWithReset();
			call.get().close();
		}
	}

	@Test
	void theFirstInspectionWaitsForTheSession() throws Exception {
		Lease lease = this.nearRegistry.acquire(REQUEST);
		this.network.cut();
		try (ZooKeeperLockStore store = ZooKeeperLockStore.connect(distant(), TestServers.PATIENT)) {
			LockInspection inspection = store.inspection().orElseThrow();
			CompletableFuture<LockInspection.State> state = inspection.inspect(KEY).toCompletableFuture();
			CompletableFuture<Boolean> freed = inspection.free(KEY, lease.fencingToken()).toCompletableFuture();
			assertThat(state).isNotDone();
			assertThat(freed).isNotDone();
			this.network.healWithReset();
			assertThat(state.get(1, TimeUnit.MINUTES)).isNotNull();
			assertThat(freed.get(1, TimeUnit.MINUTES)).isTrue();
		}
	}

	@Test
	void anInterruptionIsReportedAtOnce() throws Exception {
		CountDownLatch interruptions = new CountDownLatch(1);
		this.farStore.onInterruption(interruptions::countDown);
		this.network.reset();
		assertThat(interruptions.await(1, TimeUnit.MINUTES)).isTrue();
	}

	@Test
	void anEndedSessionLosesItsLocksAtTheNextRenewal() throws Exception {
		Lease lease = this.farRegistry.acquire(REQUEST);
		TestServers.endSession(this.far, this.direct);
		try (Lease next = this.nearRegistry.acquire(REQUEST)) {
			assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
		}
		TestServers.learnOfTheEnd(this.far);
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
		TestServers.endSession(this.far, this.direct);
		await().until(() -> !last.getState().isAlive());
		assertThatThrownBy(() -> client.acquire(KEY, OwnerToken.random(), LEASE_TIME, false))
			.isInstanceOf(CompletionException.class);
		blocked.complete(null);
		await().ignoreExceptions()
			.until(() -> client.acquire(KEY, OwnerToken.random(), LEASE_TIME, false) instanceof AcquireResult.Grant);
		assertThat(this.farStore.longestLease()).isEqualTo(TWO_FIFTHS);
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
		TestServers.endSession(this.far, this.direct);
		assertThat(TestServers.nodes(this.near, PATH)).hasSize(1);
		TestServers.learnOfTheEnd(this.far);
		await().until(() -> TestServers.nodes(this.near, PATH).size() == 2);
		lease.close();
		assertThat(waiter.get()).isTrue();
	}

	@Test
	void anotherSessionReleasesWhatTheLastOneHasLeft() throws Exception {
		OwnerToken owner = OwnerToken.random();
		StoreClient client = new StoreClient(this.farStore);
		assertThat(client.acquire(KEY, owner, LEASE_TIME, false)).isInstanceOf(AcquireResult.Grant.class);
		// The server still keeps the session
		this.network.cut();
		ZooKeeper last = this.far.getZookeeperClient().getZooKeeper();
		TestServers.learnOfTheEnd(this.far);
		this.network.healWithReset();
		await().until(() -> this.far.getZookeeperClient().getZooKeeper() != last
				&& this.far.getZookeeperClient().isConnected());
		assertThat(client.renew(KEY, owner, LEASE_TIME)).isFalse();
		assertThat(client.acquire(KEY, OwnerToken.random(), LEASE_TIME, false))
			.isInstanceOf(AcquireResult.Refusal.class);
		assertThat(client.release(KEY, owner)).isTrue();
		assertThat(client.acquire(KEY, OwnerToken.random(), LEASE_TIME, false)).isInstanceOf(AcquireResult.Grant.class);
	}

	/** The client itself would give up the connection much later. */
	@Test
	@Tag("clock")
	void aRequestWithoutAnswerEndsInTimeAndCanBeRepeated() throws Exception {
		OwnerToken owner = OwnerToken.random();
		LeaseRequest request = new LeaseRequest(KEY, owner, LEASE_TIME);
		ZooKeeperLockSettings settings = new ZooKeeperLockSettings("/distributed-locks",
				TestServers.PATIENT.sessionTimeout(), Duration.ofSeconds(1));
		ZooKeeperLockStore store = new ZooKeeperLockStore(this.far, settings);
		StoreClient client = new StoreClient(store);
		OwnerToken before = OwnerToken.random();
		client.acquire(KEY, before, LEASE_TIME, false);
		// Else the server may remove the lock, which no request without an answer creates
		this.near.create().forPath(PATH + "/kept");
		client.release(KEY, before);
		this.network.cutAnswers();
		// A request that has not begun within its time is not carried out
		await().until(() -> {
			assertThatThrownBy(() -> client.acquire(KEY, owner, LEASE_TIME, true))
				.isInstanceOf(CompletionException.class);
			return TestServers.nodes(this.near, PATH).size() == 2;
		});
		assertThat(this.far.getZookeeperClient().isConnected()).isTrue();
		this.network.healWithReset();
		await().ignoreExceptions()
			.until(() -> client.acquire(KEY, owner, LEASE_TIME, true) instanceof AcquireResult.Grant);
		await().until(() -> TestServers.nodes(this.near, PATH).size() == 2);
		assertThat(client.renew(KEY, owner, LEASE_TIME)).isTrue();
		assertThat(client.release(KEY, owner)).isTrue();
		assertThat(this.nearStore.renew(List.of(request)).get(0).toCompletableFuture().join()).isFalse();
		assertThat(TestServers.nodes(this.near, PATH)).containsExactly("kept");
		store.close();
	}

	/**
	 * Other grants come between the node of a waiter and its turn.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aWaiterIsNumberedByItsTurnAndNotByItsPlace(boolean noticed) throws Exception {
		AtomicInteger turns = new AtomicInteger();
		try (ZooKeeperLockStore reserving = new ZooKeeperLockStore(this.far, TestServers.PATIENT, LEASE_TIME)) {
			StoreClient holder = new StoreClient(this.nearStore);
			OwnerToken owner = OwnerToken.random();
			OwnerToken waiter = OwnerToken.random();
			holder.acquire(KEY, owner, LEASE_TIME, false);
			StoreClient client = new StoreClient(reserving);
			client.listen(counting(turns));
			assertThat(client.acquire(KEY, waiter, LEASE_TIME, true)).isInstanceOf(AcquireResult.Refusal.class);
			long between = ((AcquireResult.Grant) holder.acquire(LockKey.of("stock", 2), owner, LEASE_TIME, false))
				.fencingBase();
			if (!noticed) {
				this.network.cutAnswers();
			}
			holder.release(KEY, owner);
			if (noticed) {
				await().until(() -> turns.get() == 1);
			}
			CompletableFuture<AcquireResult> attempt = reserving
				.acquire(new LeaseRequest(KEY, waiter, LEASE_TIME), true)
				.toCompletableFuture();
			this.network.heal();
			assertLater(attempt, between);
		}
	}

	@Test
	void anEarlierNodeThatLeavesBeforeTheLineIsReadComesBeforeTheNumber() throws Exception {
		StoreClient holder = new StoreClient(this.nearStore);
		OwnerToken owner = OwnerToken.random();
		holder.acquire(KEY, owner, LEASE_TIME, false);
		this.network.holdBack(request(OpCode.getChildren2));
		CompletableFuture<AcquireResult> attempt = attempt(OwnerToken.random());
		awaitHeld();
		long between = ((AcquireResult.Grant) holder.acquire(LockKey.of("stock", 2), owner, LEASE_TIME, false))
			.fencingBase();
		holder.release(KEY, owner);
		this.network.letGo();
		assertLater(attempt, between);
	}

	/** The member of the ensemble that answers may be behind the others. */
	@Test
	void aWaiterAsksForTheLatestLine() throws Exception {
		StoreClient holder = new StoreClient(this.nearStore);
		OwnerToken owner = OwnerToken.random();
		OwnerToken waiter = OwnerToken.random();
		long before = ((AcquireResult.Grant) holder.acquire(KEY, owner, LEASE_TIME, false)).fencingBase();
		assertThat(attempt(waiter)).succeedsWithin(PATIENCE).isInstanceOf(AcquireResult.Refusal.class);
		this.network.holdBack(request(OpCode.sync));
		CompletableFuture<AcquireResult> attempt = attempt(waiter);
		awaitHeld();
		holder.release(KEY, owner);
		this.network.letGo();
		assertLater(attempt, before);
	}

	private CompletableFuture<AcquireResult> attempt(OwnerToken owner) {
		return this.farStore.acquire(new LeaseRequest(KEY, owner, LEASE_TIME), true).toCompletableFuture();
	}

	private static void assertLater(CompletableFuture<AcquireResult> attempt, long before) {
		assertThat(attempt).succeedsWithin(PATIENCE)
			.isInstanceOfSatisfying(AcquireResult.Grant.class, (grant) -> SafetyViolation
				.check(grant.fencingBase() > before, "base %s after %s", grant.fencingBase(), before));
	}

	/** Return how a request about the lock begins after its number. */
	private String request(int type) {
		String path = this.direct.substring(this.direct.indexOf('/')) + PATH;
		byte[] head = ByteBuffer.allocate(2 * Integer.BYTES).putInt(type).putInt(path.length()).array();
		return new String(head, StandardCharsets.ISO_8859_1) + path;
	}

	private void awaitHeld() {
		assertThat(CompletableFuture.runAsync(() -> {
			try {
				this.network.awaitHeld();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		})).as("the request was sent").succeedsWithin(PATIENCE);
	}

	private static WaitingLine.Listener counting(AtomicInteger turns) {
		return new WaitingLine.Listener() {

			@Override
			public void onRelease(LockKey key) {
				turns.incrementAndGet();
			}

			@Override
			public void onDoubt() {
			}

		};
	}

	@Test
	void aReleaseThatIsLostIsRepeatedWithTheNextConnection() throws Exception {
		OwnerToken owner = OwnerToken.random();
		StoreClient client = new StoreClient(this.farStore);
		client.acquire(KEY, owner, LEASE_TIME, false);
		this.network.disconnect();
		assertThatThrownBy(() -> client.release(KEY, owner)).isInstanceOf(CompletionException.class);
		assertThat(TestServers.nodes(this.near, PATH)).hasSize(1);
		this.network.heal();
		await().until(() -> TestServers.nodes(this.near, PATH).isEmpty());
	}

	/** A request that waited for an answer would hang. */
	@Test
	void aRequestWithoutConnectionFailsAtOnce() {
		ZooKeeperLockSettings settings = new ZooKeeperLockSettings("/distributed-locks",
				TestServers.PATIENT.sessionTimeout(), Duration.ofHours(1));
		try (ZooKeeperLockStore store = new ZooKeeperLockStore(this.far, settings)) {
			StoreClient client = new StoreClient(store);
			client.acquire(KEY, OwnerToken.random(), LEASE_TIME, false);
			this.network.disconnect();
			this.network.reset();
			await().until(() -> !this.far.getZookeeperClient().isConnected());
			assertThatThrownBy(() -> client.acquire(KEY, OwnerToken.random(), LEASE_TIME, true))
				.isInstanceOf(CompletionException.class);
		}
	}

	@Test
	@Tag("clock")
	void locksOutliveTheRestartOfTheServer() throws Exception {
		try (ZooKeeperServer server = ZooKeeperServer.start();
				CuratorFramework client = TestServers.connected(TestServers.twice(server.address()),
						TestServers.PATIENT);
				ZooKeeperLockStore store = TestServers.store(client)) {
			StoreClient locks = new StoreClient(store);
			OwnerToken owner = OwnerToken.random();
			AcquireResult.Grant grant = (AcquireResult.Grant) locks.acquire(KEY, owner, LEASE_TIME, false);
			server.kill();
			server.restart();
			await().atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> locks.renew(KEY, owner, LEASE_TIME));
			assertThat(locks.acquire(KEY, owner, LEASE_TIME, false)).isEqualTo(grant);
			locks.release(KEY, owner);
			AcquireResult.Grant next = (AcquireResult.Grant) locks.acquire(KEY, OwnerToken.random(), LEASE_TIME, false);
			SafetyViolation.check(next.fencingBase() > grant.fencingBase(), "base %s after %s", next.fencingBase(),
					grant.fencingBase());
		}
	}

	@Test
	@Tag("clock")
	void aClosedStoreKeepsItsSessionUntilTheLastLeaseEnds() throws Exception {
		// The session would not end by itself before this test gives up
		ZooKeeperLockStore store = ZooKeeperLockStore.connect(this.direct, TestServers.PATIENT);
		StoreClient client = new StoreClient(store);
		await().ignoreExceptions().until(() -> !client.release(KEY, OwnerToken.random()));
		long start = System.nanoTime();
		assertThat(client.acquire(KEY, OwnerToken.random(), Duration.ofSeconds(1), false))
			.isInstanceOf(AcquireResult.Grant.class);
		store.close();
		await().until(() -> TestServers.nodes(this.near, PATH).isEmpty());
		SafetyViolation.check(System.nanoTime() - start >= Duration.ofSeconds(1).toNanos(),
				"'%s' is free before the end of its lease", KEY);
	}

	private boolean has(Class<? extends LockEvent> type) {
		return this.events.stream().anyMatch(type::isInstance);
	}

}
