// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.redlock;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.lockstarter.Lease;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.engine.DefaultLockRegistry;
import io.github.lockstarter.engine.EngineSettings;
import io.github.lockstarter.event.LockEvent;
import io.github.lockstarter.event.LockListener;
import io.github.lockstarter.servers.RedisServer;
import io.github.lockstarter.store.AcquireResult;
import io.github.lockstarter.store.OwnerToken;
import io.github.lockstarter.test.SafetyViolation;
import io.github.lockstarter.test.StoreClient;
import io.github.lockstarter.testsupport.FullProfileOnly;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Servers that have forgotten a lock.
 */
class RedlockRestartTests extends AbstractRedlockTests {

	/** So many renewals that a lock outlives a machine that stands still for seconds. */
	private static final EngineSettings OFTEN = new EngineSettings(Duration.ofSeconds(30), Duration.ofSeconds(4), 20,
			Duration.ofSeconds(1), EngineSettings.DEFAULTS.pollIntervalWithoutMessages(),
			EngineSettings.DEFAULTS.timeSlice(), Duration.ofSeconds(20), Duration.ofSeconds(20));

	@Test
	void aRenewalTakesTheLockAgainOnARestartedServer() {
		grant(this.one, this.owner);
		this.servers.restart(2);
		assertRenewed();
		Awaitility.await().until(() -> {
			assertRenewed();
			return this.servers.held() == 3;
		});
		this.servers.restart(1);
		assertRenewed();
		assertThat(firstAnswer(this.two, this.other)).isInstanceOf(AcquireResult.Refusal.class);
	}

	@Test
	void aLockThatAMajorityHasForgottenIsLostAndTakenNowhereAgain() {
		grantEverywhere();
		this.servers.get(1).command("DEL", RedlockServers.LOCK);
		this.servers.get(2).command("DEL", RedlockServers.LOCK);
		assertThat(this.one.renew(KEY, this.owner, LEASE_TIME)).isFalse();
		this.servers.awaitFree();
		grant(this.two, this.other);
	}

	@Test
	void aCheckOfALockTakesItNowhereAgain() {
		grantEverywhere();
		this.servers.get(2).command("DEL", RedlockServers.LOCK);
		assertThat(this.one.renew(KEY, this.owner, Duration.ZERO)).isTrue();
		assertThat(this.servers.held()).isEqualTo(2);
	}

	@Test
	@FullProfileOnly
	@Tag("clock")
	void aRestartedServerHasNoVoteWhileItMayHaveForgottenALock() {
		Duration lease = Duration.ofSeconds(1);
		try (RedlockStore careful = this.servers.store(RedlockServers.restartDelay(lease))) {
			StoreClient client = new StoreClient(careful);
			this.servers.get(2).kill();
			AtomicLong start = new AtomicLong();
			Awaitility.await().ignoreExceptions().until(() -> {
				start.set(System.nanoTime());
				return isGranted(client, this.owner, lease);
			});
			this.servers.get(2).restart();
			this.servers.restart(1);
			Awaitility.await().ignoreExceptions().until(() -> isGranted(client, this.other, lease));
			SafetyViolation.check(System.nanoTime() - start.get() >= lease.toNanos(), "two owners of '%s'", KEY);
		}
	}

	@Test
	void theFailureTellsHowManyServersHaveNoVoteYet() {
		Duration delay = Duration.ofHours(1);
		try (RedlockStore careful = this.servers
			.store(new RedlockSettings("lock:", delay, PATIENT.nodeTimeout(), delay))) {
			assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> ask(careful, this.owner).join())
				.withMessageEndingWith("A majority of the 3 Redis servers is needed, but only 0 could vote; 3 started"
						+ " less than distributed-lock.redlock.restart-delay (PT1H) ago");
		}
	}

	@Test
	void aRestartedServerWithoutTheRestartDelayVotesAtOnce() {
		this.servers.get(2).kill();
		grant(this.one, this.owner);
		this.servers.get(2).restart();
		this.servers.restart(1);
		Awaitility.await().ignoreExceptions().until(() -> isGranted(this.two, this.other, LEASE_TIME));
	}

	@Test
	@FullProfileOnly
	@Tag("clock")
	void aFixedLeaseMayBeLongerThanTheRestartDelay() {
		Duration lease = Duration.ofSeconds(6);
		// The owner allows for clocks that differ by a hundredth, and gives up that early
		long least = lease.toNanos() * 98 / 100;
		RedlockSettings settings = RedlockServers.restartDelay(OFTEN.leaseTime());
		List<Long> losses = new CopyOnWriteArrayList<>();
		try (RedlockStore here = this.servers.store(settings);
				RedlockStore there = this.servers.store(settings);
				DefaultLockRegistry holding = new DefaultLockRegistry(here, OFTEN, (event) -> noteLoss(event, losses));
				DefaultLockRegistry waiting = new DefaultLockRegistry(there, OFTEN, LockListener.NO_OP)) {
			Awaitility.await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> {
				holding.acquire(LockRequest.of(KEY)).close();
				return true;
			});
			long start = System.nanoTime();
			holding.acquire(LockRequest.of(KEY).withLeaseTime(lease));
			waiting.acquire(LockRequest.of(KEY)).close();
			SafetyViolation.check(System.nanoTime() - start >= least, "two owners of '%s'", KEY);
			Awaitility.await().until(() -> !losses.isEmpty());
			assertThat(losses.get(0) - start).isGreaterThanOrEqualTo(least);
		}
	}

	/** What a majority answers once the client is connected to it again. */
	private static AcquireResult firstAnswer(StoreClient client, OwnerToken owner) {
		return Awaitility.await().ignoreExceptions().until(() -> acquire(client, owner), Objects::nonNull);
	}

	@Tag("clock")
	private static void noteLoss(LockEvent event, List<Long> losses) {
		if (event instanceof LockEvent.Lost) {
			losses.add(System.nanoTime());
		}
	}

	private static boolean isGranted(StoreClient client, OwnerToken owner, Duration leaseTime) {
		return client.acquire(KEY, owner, leaseTime, false) instanceof AcquireResult.Grant;
	}

	private void assertRenewed() {
		assertThat(this.one.renew(KEY, this.owner, LEASE_TIME)).isTrue();
	}

}
