// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.InstanceSpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockMode;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What becomes of locks when members of an ensemble die, or are cut off from the others.
 */
class EnsembleFaultsTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ofSeconds(30));

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private TestEnsemble ensemble;

	@BeforeEach
	void start() throws Exception {
		this.ensemble = TestEnsemble.start();
	}

	@AfterEach
	void stop() throws Exception {
		this.ensemble.close();
	}

	@Test
	void aLockOutlivesTheLeader() throws Exception {
		InstanceSpec leader = this.ensemble.leader();
		try (Instance instance = instance(this.ensemble.connectString(), Duration.ofSeconds(15))) {
			Lease lease = instance.registry().acquire(REQUEST);
			long end = System.nanoTime() + lease.remaining().toNanos();
			this.ensemble.kill(leader);
			await().until(() -> System.nanoTime() - end > 0);
			assertThat(lease.isHeld()).isTrue();
			assertThat(this.events).noneMatch(LockEvent.Lost.class::isInstance);
			lease.close();
			try (Lease next = instance.registry().acquire(REQUEST)) {
				assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
			}
		}
	}

	@Test
	@FullProfileOnly
	void withoutAMajorityLocksAreLostInTimeAndGrantedAgainAfterwards() throws Exception {
		List<InstanceSpec> killed = this.ensemble.members().subList(0, 2);
		try (Instance instance = instance(this.ensemble.connectString(), Duration.ofSeconds(3))) {
			Lease lease = instance.registry().acquire(REQUEST);
			long end = System.nanoTime() + lease.remaining().toNanos();
			for (InstanceSpec member : killed) {
				this.ensemble.kill(member);
			}
			await().until(() -> has(LockEvent.Lost.class));
			assertThat(has(LockEvent.Suspect.class)).isTrue();
			assertThat(lease.isHeld()).isFalse();
			// One renewal may have been answered in the meantime
			assertThat(System.nanoTime() - end).isLessThan(Duration.ofSeconds(2).toNanos());
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(
					() -> instance.registry().acquire(LockRequest.of("stock", 2).withWaitTime(Duration.ofSeconds(1))));
			for (InstanceSpec member : killed) {
				this.ensemble.restart(member);
			}
			await().atMost(Duration.ofSeconds(30))
				.ignoreExceptions()
				.until(() -> instance.registry().tryAcquire(REQUEST).orElseThrow().fencingToken() > lease
					.fencingToken());
		}
	}

	@Test
	@FullProfileOnly
	void aHolderBehindAnIsolatedLeaderLosesItsLockBeforeAnotherGetsIt() throws Exception {
		assertLostBeforeTheNextGrant(this.ensemble.leader());
	}

	@Test
	@FullProfileOnly
	void aHolderBehindAnIsolatedFollowerLosesItsLockBeforeAnotherGetsIt() throws Exception {
		assertLostBeforeTheNextGrant(this.ensemble.followers().get(0));
	}

	private void assertLostBeforeTheNextGrant(InstanceSpec isolated) throws Exception {
		String others = String.join(",",
				this.ensemble.members()
					.stream()
					.filter((member) -> !member.equals(isolated))
					.map(TestEnsemble::address)
					.toList());
		try (Instance far = instance(TestEnsemble.address(isolated), Duration.ofSeconds(3));
				Instance near = instance(others, Duration.ofSeconds(3))) {
			Lease lease = far.registry().acquire(REQUEST);
			Call<Boolean> heldBoth = Callers.start(() -> {
				try (Lease next = near.registry().acquire(REQUEST)) {
					return lease.isHeld() || next.fencingToken() <= lease.fencingToken();
				}
			}).awaitParked();
			this.ensemble.isolate(isolated);
			assertThat(heldBoth.get()).isFalse();
			assertThat(has(LockEvent.Lost.class)).isTrue();
			this.ensemble.heal();
			await().atMost(Duration.ofSeconds(30))
				.ignoreExceptions()
				.until(() -> far.registry().tryAcquire(REQUEST).isPresent());
		}
	}

	@Test
	@FullProfileOnly
	void ownersNeverOverlapWhileMembersAreIsolatedAndReturn() throws Exception {
		try (CuratorFramework one = TestServers.connected(this.ensemble.connectString());
				CuratorFramework two = TestServers.connected(this.ensemble.connectString());
				Contest contest = new Contest(one, two, LockKey.of("isolated"), LockMode.EXCLUSIVE)) {
			contest.start();
			for (InstanceSpec member : this.ensemble.members()) {
				contest.awaitProgress();
				this.ensemble.isolate(member);
				this.ensemble.awaitAlone(member);
				this.ensemble.heal();
			}
			contest.awaitProgress();
			contest.stop();
			contest.assertOrder();
		}
	}

	private Instance instance(String connectString, Duration sessionTimeout) throws Exception {
		ZooKeeperLockSettings settings = new ZooKeeperLockSettings("/distributed-locks", sessionTimeout,
				Duration.ofSeconds(3));
		CuratorFramework client = ZooKeeperLockStore.client(connectString, settings);
		client.blockUntilConnected();
		ZooKeeperLockStore store = new ZooKeeperLockStore(client, settings);
		LockListener listener = this.events::add;
		return new Instance(client, store, new DefaultLockRegistry(store, TestServers.ENGINE, listener));
	}

	private boolean has(Class<? extends LockEvent> type) {
		return this.events.stream().anyMatch(type::isInstance);
	}

	private record Instance(CuratorFramework client, ZooKeeperLockStore store,
			DefaultLockRegistry registry) implements AutoCloseable {

		@Override
		public void close() {
			this.registry.close();
			this.store.close();
			this.client.close();
		}

	}

}
