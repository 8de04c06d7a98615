// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.servers.ZooKeeperEnsemble;
import io.github.lockstarter.servers.ZooKeeperServer;
import io.github.lockstarter.test.Callers;
import io.github.lockstarter.test.Callers.Call;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What becomes of locks when members of an ensemble die, or are cut off from the others.
 */
@Tag("clock")
class EnsembleFaultsTests {

	private static final LockRequest REQUEST = LockRequest.of("stock", 1001).withWaitTime(Duration.ofMinutes(1));

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private ZooKeeperEnsemble ensemble;

	@BeforeEach
	void start() {
		// Members soon notice that they are cut off
		this.ensemble = ZooKeeperEnsemble.start("syncLimit=5");
	}

	@AfterEach
	void stop() {
		this.ensemble.close();
	}

	@Test
	void aLockOutlivesTheLeader() throws Exception {
		ZooKeeperServer leader = this.ensemble.leader();
		try (Instance instance = instance(this.ensemble.connectString(), Duration.ofSeconds(15))) {
			Lease lease = instance.registry().acquire(REQUEST);
			leader.kill();
			// Longer than the time between two renewals: this one was asked for later
			long end = end(lease) + Duration.ofSeconds(1).toNanos();
			await().atMost(PATIENCE).until(() -> end(lease) - end > 0 || !lease.isHeld());
			assertThat(lease.isHeld()).isTrue();
			assertThat(this.events).noneMatch(LockEvent.Lost.class::isInstance);
			lease.close();
			try (Lease next = instance.registry().acquire(REQUEST)) {
				SafetyViolation.check(next.fencingToken() > lease.fencingToken(), "token %s after %s",
						next.fencingToken(), lease.fencingToken());
			}
		}
	}

	private static long end(Lease lease) {
		return System.nanoTime() + lease.remaining().toNanos();
	}

	@Test
	@FullProfileOnly
	void withoutAMajorityLocksAreLostInTimeAndGrantedAgainAfterwards() throws Exception {
		List<ZooKeeperServer> killed = this.ensemble.members().subList(0, 2);
		try (Instance instance = instance(this.ensemble.connectString(), Duration.ofSeconds(3))) {
			Lease lease = instance.registry().acquire(REQUEST);
			killed.forEach(ZooKeeperServer::kill);
			await().until(() -> has(LockEvent.Lost.class));
			assertThat(has(LockEvent.Suspect.class)).isTrue();
			assertThat(lease.isHeld()).isFalse();
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(
					() -> instance.registry().acquire(LockRequest.of("stock", 2).withWaitTime(Duration.ofSeconds(1))));
			killed.forEach(ZooKeeperServer::restart);
			long token = await().atMost(PATIENCE)
				.ignoreExceptions()
				.until(() -> instance.registry().tryAcquire(REQUEST).orElseThrow().fencingToken(), Objects::nonNull);
			SafetyViolation.check(token > lease.fencingToken(), "token %s after %s", token, lease.fencingToken());
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

	private void assertLostBeforeTheNextGrant(ZooKeeperServer isolated) throws Exception {
		String others = String.join(",",
				this.ensemble.members()
					.stream()
					.filter((member) -> member != isolated)
					.map(ZooKeeperServer::address)
					.toList());
		try (Instance far = instance(isolated.address(), Duration.ofSeconds(3));
				Instance near = instance(others, Duration.ofSeconds(15))) {
			Lease lease = far.registry().acquire(REQUEST);
			Call<Boolean> next = Callers.start(() -> {
				try (Lease later = acquireAfterOutage(near.registry())) {
					SafetyViolation.check(!lease.isHeld(), "two owners of %s", REQUEST.key());
					SafetyViolation.check(later.fencingToken() > lease.fencingToken(), "the token %s after %s",
							later.fencingToken(), lease.fencingToken());
					return true;
				}
			}).awaitParked();
			this.ensemble.isolate(isolated);
			assertThat(next.get()).isTrue();
			assertThat(has(LockEvent.Lost.class)).isTrue();
			this.ensemble.heal();
			await().atMost(PATIENCE).ignoreExceptions().until(() -> far.registry().tryAcquire(REQUEST).isPresent());
		}
	}

	private static Lease acquireAfterOutage(DefaultLockRegistry registry) {
		for (int i = 0; i < 100; i++) {
			try {
				return registry.acquire(REQUEST);
			}
			catch (LockUnavailableException ex) {
				// The election of a leader may outlast a session
			}
		}
		throw new AssertionError("The other servers have elected no leader");
	}

	private Instance instance(String connectString, Duration sessionTimeout) throws Exception {
		ZooKeeperLockSettings settings = new ZooKeeperLockSettings("/distributed-locks", sessionTimeout,
				Duration.ofSeconds(3));
		CuratorFramework client = TestServers.connected(connectString, settings);
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
